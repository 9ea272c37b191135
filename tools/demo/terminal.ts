import type { WriteStream } from 'node:tty'

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'cyan'

/** Where the demo prints: what it can show, and how wide it is. */
export interface Terminal {
  /** True when lines can be drawn over. */
  readonly interactive: boolean
  /** Characters of a line, now: a window may change. */
  readonly width: number
  write(text: string): void
  style(style: Style, text: string): string
}

const codes: Readonly<Record<Style, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  green: [32, 39],
  red: [31, 39],
  cyan: [36, 39],
}

const NARROWEST = 40
const WIDTH_WITHOUT_TERMINAL = 80

/**
 * A terminal, or a plain stream of lines. Colours only on a terminal, and not when NO_COLOR is set to anything
 * (https://no-color.org) or the terminal is a dumb one, which is not drawn over either.
 */
export function openTerminal(
  stream: Pick<WriteStream, 'write'> & { readonly isTTY?: boolean; readonly columns?: number },
  env: Readonly<Record<string, string | undefined>>,
): Terminal {
  const interactive = stream.isTTY === true && env.TERM !== 'dumb'
  const colours = interactive && (env.NO_COLOR ?? '') === ''
  return {
    interactive,
    get width() {
      return Math.max(NARROWEST, stream.columns ?? WIDTH_WITHOUT_TERMINAL)
    },
    write(text) {
      stream.write(text)
    },
    style(style, text) {
      const [on, off] = codes[style]
      return colours ? `\u001b[${on}m${text}\u001b[${off}m` : text
    },
  }
}
