/** Source of names and jitter. */
export interface Random {
  /** Lower-case RFC 4122 version 4. */
  uuid(): string
  /** In [0, 1). */
  fraction(): number
}
