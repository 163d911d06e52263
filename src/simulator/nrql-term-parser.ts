import { nrqlAttribute } from './nrql-attributes.ts';
import { parseNrqlCondition } from './nrql-condition-parser.ts';
import type { NrqlFacet, NrqlOperator, NrqlTerm } from './nrql-query.ts';
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

/** Two parts with an operator between them. */
interface Arithmetic<Part> {
  readonly kind: 'arithmetic';
  readonly operator: NrqlOperator;
  readonly left: Part;
  readonly right: Part;
}

/** Operands in chains of equal rank, from the left; `*` and `/` bind closer, and `-` in front is less than 0. */
export function parseArithmetic<Part>(
  reader: NrqlReader,
  operandOf: (reader: NrqlReader) => Part,
  zero: Part,
  joined: (parts: Arithmetic<Part>) => Part,
): Part {
  const chain = (operators: readonly NrqlOperator[], part: () => Part): Part => {
    let left = part();
    for (;;) {
      const operator = operators.find((symbol) => reader.takeSymbol(symbol));
      if (operator === undefined) return left;
      left = joined({ kind: 'arithmetic', operator, left, right: part() });
    }
  };
  const signed = (): Part =>
    reader.takeSymbol('-')
      ? joined({ kind: 'arithmetic', operator: '-', left: zero, right: signed() })
      : operandOf(reader);
  return chain(['+', '-'], () => chain(['*', '/'], signed));
}

/** What is worked out of each row. */
export function parseNrqlTerm(reader: NrqlReader): NrqlTerm {
  return parseArithmetic<NrqlTerm>(reader, operand, { kind: 'constant', value: 0 }, (term) => term);
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
