import { type Consumer, consumerFiles, readConsumer } from '../store/consumers.ts'
import { ifPresent, withPath } from '../store/errors.ts'
import type { TableStore } from '../store/table-store.ts'
import type { ExpireRequest } from './expire-request.ts'

/**
 * Removes marks that were last written before `consumersOlderThan`, and gives the consumers that are left. It comes first, so that a dead
 * consumer holds back nothing any more. An old mark is not read: a damaged one goes too.
 */
export async function expireConsumers(
  { fs, paths }: TableStore,
  { consumersOlderThan, dryRun }: ExpireRequest,
): Promise<readonly Consumer[]> {
  const left: Consumer[] = []
  for (const { name, path } of await consumerFiles(fs, paths.consumers)) {
    const stat = consumersOlderThan === undefined ? undefined : await withPath(path, () => fs.stat(path))
    if (stat !== undefined && stat.modifiedMillis < consumersOlderThan!) {
      if (!dryRun) await ifPresent(() => withPath(path, () => fs.unlink(path)))
      continue
    }
    const mark = await readConsumer(fs, path)
    if (mark !== undefined) left.push({ name, nextSnapshot: mark.nextSnapshot })
  }
  return left
}
