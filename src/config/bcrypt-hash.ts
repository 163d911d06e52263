/** A cost of 15 takes seconds of a processor, and every further one twice as long. */
const highestCost = 15;
const lowestCost = 4;
/** Above it a check takes about a second, and ten of them with a tenth of a processor. */
const slowCost = 12;

const form = /^\$2[aby]\$(?<cost>\d\d)\$[./A-Za-z0-9]{53}$/u;

const help = 'make one with: htpasswd -nBC 10 "" | tr -d \':\\n\'';

/** What is wrong with the hash of a password. Neither text holds any of it. */
export interface HashProblem {
  readonly message: string;
  readonly help: string;
}

/** `undefined` if the value is the hash of a password that can be checked in reasonable time. */
export function hashProblem(value: unknown): HashProblem | undefined {
  const cost = typeof value === 'string' ? form.exec(value)?.groups?.['cost'] : undefined;
  if (cost === undefined) {
    return { message: 'must be a bcrypt hash, which begins with $2a$, $2b$ or $2y$', help };
  }
  if (Number(cost) < lowestCost || Number(cost) > highestCost) {
    const message = `has a bcrypt cost of ${Number(cost)}: it must be from ${lowestCost} to ${highestCost}`;
    return { message, help };
  }
  return undefined;
}

/** A warning about a hash that takes long to check; `undefined` if there is no reason for one. */
export function slowHashProblem(text: string): HashProblem | undefined {
  const cost = Number(form.exec(text)?.groups?.['cost'] ?? 0);
  if (cost <= slowCost) return undefined;
  return {
    message: `has a bcrypt cost of ${cost}: the first request with it waits for seconds`,
    help: 'a cost of 10 to 12 is usual',
  };
}
