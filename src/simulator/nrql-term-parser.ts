import { nrqlAttribute } from './nrql-attributes.ts';
import { parseNrqlCondition } from './nrql-condition-parser.ts';
import type { NrqlFacet, NrqlTerm } from './nrql-query.ts';
import type { NrqlReader } from './nrql-reader.ts';

const nothing: NrqlTerm = { kind: 'constant', value: null };

/** `if(CONDITION, VALUE)`, perhaps with a value for all others. */
function choice(reader: NrqlReader): NrqlTerm {
  reader.next();
  reader.expectSymbol('(');
  const condition = parseNrqlCondition(reader);
  reader.expectSymbol(',');
  const chosen = parseNrqlTerm(reader);
  const otherwise = reader.takeSymbol(',') ? parseNrqlTerm(reader) : nothing;
  reader.expectSymbol(')');
  return { kind: 'if', condition, chosen, otherwise };
}

function operand(reader: NrqlReader): NrqlTerm {
  const { kind, text } = reader.peek();
  if (kind === 'number') return { kind: 'constant', value: Number(reader.next().text) };
  if (kind === 'text') return { kind: 'constant', value: reader.next().text };
  if (reader.takeSymbol('(')) {
    const inner = parseNrqlTerm(reader);
    reader.expectSymbol(')');
    return inner;
  }
  if (reader.callAhead() !== undefined && text.toUpperCase() === 'IF') return choice(reader);
  return { kind: 'attribute', name: nrqlAttribute(reader) };
}

function product(reader: NrqlReader): NrqlTerm {
  return chain(reader, ['*', '/'], operand);
}

/** A chain of equal rank, from the left. */
function chain(
  reader: NrqlReader,
  operators: readonly ('+' | '-' | '*' | '/')[],
  part: (reader: NrqlReader) => NrqlTerm,
): NrqlTerm {
  let left = part(reader);
  for (;;) {
    const operator = operators.find((symbol) => reader.takeSymbol(symbol));
    if (operator === undefined) return left;
    left = { kind: 'arithmetic', operator, left, right: part(reader) };
  }
}

/** What is worked out of each row. */
export function parseNrqlTerm(reader: NrqlReader): NrqlTerm {
  return chain(reader, ['+', '-'], product);
}

/** `CASES(WHERE CONDITION AS NAME, ...)`: the first that a row meets; perhaps `OR` an attribute for all others. */
function cases(reader: NrqlReader): NrqlTerm {
  reader.next();
  reader.expectSymbol('(');
  const found: (readonly [name: string, condition: ReturnType<typeof parseNrqlCondition>])[] = [];
  do {
    reader.takeWords('WHERE');
    const first = reader.peek();
    const condition = parseNrqlCondition(reader);
    const text = reader.textFrom(first);
    found.push([reader.takeWords('AS') ? reader.label() : text, condition]);
  } while (reader.takeSymbol(','));
  reader.expectSymbol(')');
  const others = reader.takeWords('OR') ? parseNrqlTerm(reader) : nothing;
  return found.reduceRight<NrqlTerm>(
    (otherwise, [value, condition]) => ({
      kind: 'if',
      condition,
      chosen: { kind: 'constant', value },
      otherwise,
    }),
    others,
  );
}

function buckets(reader: NrqlReader): NrqlTerm {
  reader.next();
  reader.expectSymbol('(');
  const of = parseNrqlTerm(reader);
  reader.expectSymbol(',');
  const most = reader.positiveNumber();
  reader.expectSymbol(',');
  const parts = reader.positiveNumber();
  reader.expectSymbol(')');
  return { kind: 'bucket', of, most, parts };
}

/** One of what follows `FACET`. */
export function parseNrqlFacet(reader: NrqlReader): NrqlFacet {
  const first = reader.peek();
  const call = reader.callAhead()?.toUpperCase();
  const read = call === 'CASES' ? cases : call === 'BUCKETS' ? buckets : parseNrqlTerm;
  const value = read(reader);
  const text = value.kind === 'attribute' ? value.name : reader.textFrom(first);
  return { value, text, name: reader.takeWords('AS') ? reader.label() : text };
}
