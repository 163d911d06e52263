/** Two letters without a pattern: the worst input for many expressions. */
export function hardName(length: number, seed: number): string {
  let state = seed;
  let name = '';
  for (let index = 0; index < length; index += 1) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    name += state > 1_073_741_824 ? 'a' : 'b';
  }
  return `cd1${name}`;
}
