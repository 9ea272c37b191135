import type { PageHeader } from './footer.ts'

/** A page of version 1, decompressed. */
export interface ShelvedPage {
  readonly header: PageHeader
  /** Where its body starts in the file. */
  readonly bodyOffset: number
  readonly bytes: Uint8Array
}

/**
 * Pages of one file that a reader had begun when it was given up: the reader that goes on there takes them instead of
 * decompressing them again. A page is found by the place of its header.
 */
export interface PageShelf {
  /** Takes every page, not only those at the end of what was read, and gives each as often as it is asked for. */
  readonly keepsAll?: boolean
  /** The page is off the shelf afterwards, unless that keeps all. */
  take(offset: number): ShelvedPage | undefined
  /** The bytes are the shelf's from now on. */
  put(offset: number, page: ShelvedPage): void
}
