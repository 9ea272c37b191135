import { loadCodecs } from '../../formats/compress/load-codecs.ts'
import { decodeIndexManifest, encodeIndexManifest } from '../../formats/meta/index-manifest.ts'
import { decodeManifest, encodeManifest } from '../../formats/meta/manifest.ts'
import { decodeManifestList, encodeManifestList } from '../../formats/meta/manifest-list.ts'
import { goldenBytes } from './golden-bytes.ts'
import type { Target } from './targets.ts'

const codecs = loadCodecs()
const tables = ['dv', 'dv_bitmap64', 'evolution', 'partitioned', 'stats_full']

/** Paimon's files, and the same records without compression: so that changes reach the records. */
export function avroTargets(): readonly Target[] {
  const manifests = goldenBytes(/\/manifest-[0-9a-f]{8}-/, ...tables)
  const lists = goldenBytes(/\/manifest-list-/, ...tables)
  const indexes = goldenBytes(/\/index-manifest-/, ...tables)
  return [
    {
      name: 'manifest',
      seeds: [...manifests, ...manifests.map((file) => encodeManifest(decodeManifest(file, codecs), codecs, 'none'))],
      decode: (bytes) => decodeManifest(bytes, codecs),
    },
    {
      name: 'manifest list',
      seeds: [...lists, ...lists.map((file) => encodeManifestList(decodeManifestList(file, codecs), codecs, 'none'))],
      decode: (bytes) => decodeManifestList(bytes, codecs),
    },
    {
      name: 'index manifest',
      seeds: [
        ...indexes,
        ...indexes.map((file) => encodeIndexManifest(decodeIndexManifest(file, codecs), codecs, 'none')),
      ],
      decode: (bytes) => decodeIndexManifest(bytes, codecs),
    },
  ]
}
