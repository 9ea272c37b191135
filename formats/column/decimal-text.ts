/** Digits that a number holds exactly whatever they are. */
const SAFE_DIGITS = 15

const powers: readonly bigint[] = Array.from({ length: 39 }, (_, exponent) => 10n ** BigInt(exponent))

/**
 * Unscaled value of decimal text: sign, digits, at most one point; no exponent, no blanks. Zeros past the scale are fine, other
 * digits there are not: a text that says why it does not fit is returned instead of a number.
 */
export function parseDecimal(text: string, precision: number, scale: number): bigint | string {
  const sign = text.charCodeAt(0)
  const start = sign === 0x2d || sign === 0x2b ? 1 : 0
  let point = -1
  let end = text.length
  for (let i = start; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit === 0x2e && point < 0) point = i
    else if (unit < 0x30 || unit > 0x39) return 'is not a decimal number such as "-1.50"'
  }
  if (end - start - (point < 0 ? 0 : 1) < 1) return 'is not a decimal number such as "-1.50"'
  let fraction = point < 0 ? 0 : end - point - 1
  for (; fraction > scale && text.charCodeAt(end - 1) === 0x30; fraction--) end--
  if (fraction > scale) return `has more than ${scale} digits after the point`
  const whole = text.slice(start, point < 0 ? end : point)
  const digits = point < 0 ? whole : whole + text.slice(point + 1, point + 1 + fraction)
  const magnitude =
    digits.length <= SAFE_DIGITS
      ? BigInt(Number(digits)) * powers[scale - fraction]!
      : BigInt(digits) * powers[scale - fraction]!
  if (magnitude >= powers[precision]!) return `has more than ${precision - scale} digits before the point`
  return sign === 0x2d ? -magnitude : magnitude
}

/** Text of an unscaled value at full scale: 150n at scale 2 is "1.50". */
export function printDecimal(unscaled: bigint, scale: number): string {
  const text = unscaled.toString()
  if (scale === 0) return text
  const negative = text.charCodeAt(0) === 0x2d
  const digits = (negative ? text.slice(1) : text).padStart(scale + 1, '0')
  return `${negative ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}
