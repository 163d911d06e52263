/** A number with its noun, such as `1 account` or `2 entries`. */
export function countOf(number: number, one: string, many: string = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
