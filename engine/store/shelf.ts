import type { PageShelf, ShelvedPage } from '../../formats/parquet/page-shelf.ts'
import { Cache } from './cache.ts'

/** Enough for the pages in which a stretch over ten runs of eight columns ends. */
const SHELF_BYTES = 32 * 1024 * 1024

/** Pages of data files that readers leave to those that follow. */
export interface PageShelves {
  of(path: string): PageShelf
}

/** Pages that readers of this thread have left, of any file: names of data files hold a uuid, so none is ever stale. */
export class Shelf implements PageShelves {
  readonly #pages = new Cache<ShelvedPage>(SHELF_BYTES)

  of(path: string): PageShelf {
    return {
      take: (offset) => {
        const key = `${path}:${offset}`
        const page = this.#pages.get(key)
        if (page !== undefined) this.#pages.delete(key)
        return page
      },
      put: (offset, page) => this.#pages.set(`${path}:${offset}`, page, page.bytes.buffer.byteLength),
    }
  }
}
