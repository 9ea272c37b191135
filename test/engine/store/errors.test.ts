import t from 'tap'
import { TableError } from '../../../engine/errors.ts'
import { fileError } from '../../../engine/ports/file-error.ts'
import { isMissing, toTableError } from '../../../engine/store/errors.ts'
import { corrupt, unsupported } from '../../../formats/bytes/format-error.ts'

t.test('errors of the file system get a code, the path and a remedy', (t) => {
  for (const code of ['ENOSPC', 'EDQUOT', 'EMFILE', 'EACCES', 'EROFS', 'EIO', 'ESTALE']) {
    const error = toTableError(fileError(code, 'write', '/other'), '/t/file') as TableError
    t.match(error, { name: 'TableError', code: 'IO', details: { path: '/t/file', errno: code, syscall: 'write' } })
    t.match(error.message, new RegExp(`^write /t/file failed with ${code}\\. .+\\.$`))
    t.equal((error.cause as NodeJS.ErrnoException).code, code)
  }
  t.end()
})

t.test('a missing file that something names is damage', (t) => {
  const error = toTableError(fileError('ENOENT', 'open', '/t/file'), '/t/file')
  t.match(error, { code: 'CORRUPT', details: { path: '/t/file', missing: true } })
  t.ok(isMissing(error))
  t.ok(isMissing(fileError('ENOENT', 'open', '/t/file')))
  t.notOk(isMissing(toTableError(corrupt('bad'), '/t/file')))
  t.notOk(isMissing(new Error('ENOENT')))
  t.end()
})

t.test('errors of decoders get the path', (t) => {
  t.match(toTableError(corrupt('byte 4: bad magic'), '/t/file'), {
    code: 'CORRUPT',
    message: /^\/t\/file: byte 4: bad magic\. Restore/,
    details: { path: '/t/file' },
  })
  t.match(toTableError(unsupported('codec x'), '/t/file'), {
    code: 'UNSUPPORTED',
    message: /^\/t\/file: codec x\. Read/,
  })
  t.match(toTableError(new RangeError('past the end'), '/t/file'), { code: 'CORRUPT' })
  t.end()
})

t.test('a TableError keeps its code, and gets the path when it has none', (t) => {
  const own = new TableError('CONFLICT', 'Taken.', { path: '/first' })
  t.equal(toTableError(own, '/second'), own)
  const bare = new TableError('CORRUPT', 'Added twice.', { file: 'data-1' })
  t.match(toTableError(bare, '/t/manifest'), {
    code: 'CORRUPT',
    message: '/t/manifest: Added twice.',
    details: { path: '/t/manifest', file: 'data-1' },
  })
  t.end()
})

t.test('bugs pass as they are', (t) => {
  const bug = new TypeError('x is not a function')
  t.equal(toTableError(bug, '/t/file'), bug)
  const coded = Object.assign(new Error('bad argument'), { code: 'ERR_INVALID_ARG_TYPE' })
  t.equal(toTableError(coded, '/t/file'), coded)
  t.match(toTableError('text', '/t/file'), { message: 'text' })
  t.end()
})
