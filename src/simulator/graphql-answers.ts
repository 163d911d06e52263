import type { Answer } from './answer.ts';

const headers = { 'Content-Type': 'application/json;charset=utf-8' };

/** An answer of NerdGraph: nearly always a 200, with `errors` or without. */
export function graphqlAnswer(result: object): Answer {
  return { status: 200, headers, body: JSON.stringify(result) };
}

/** A refusal of the whole request. */
export function graphqlRefusal(
  status: number,
  message: string,
  extensions: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers, body: JSON.stringify({ errors: [{ message, extensions }] }) };
}

export function badKeyAnswer(status: 200 | 401): Answer {
  return graphqlRefusal(status, 'The API key provided is invalid', { error_code: 'BAD_API_KEY' });
}
