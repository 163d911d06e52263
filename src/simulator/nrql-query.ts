import type { Timeslice } from './timeslice.ts';

/** A constant in a query. */
export type NrqlLiteral = string | number | boolean;

/** An attribute of data; `null` if the data does not have it. */
export type NrqlValue = string | number | null;

export type NrqlComparison = '=' | '!=' | '<' | '<=' | '>' | '>=';

/** An operation on two numbers. */
export type NrqlOperator = '+' | '-' | '*' | '/';

/** A value that each row has or that is worked out of it. */
export type NrqlTerm =
  | { readonly kind: 'attribute'; readonly name: string }
  | { readonly kind: 'constant'; readonly value: NrqlValue }
  | {
      readonly kind: 'if';
      readonly condition: NrqlCondition;
      readonly chosen: NrqlTerm;
      readonly otherwise: NrqlTerm;
    }
  /** In which of so many equal parts of the range from 0 to `most` a number is. */
  | {
      readonly kind: 'bucket';
      readonly of: NrqlTerm;
      readonly most: number;
      readonly parts: number;
    }
  | {
      readonly kind: 'arithmetic';
      readonly operator: NrqlOperator;
      readonly left: NrqlTerm;
      readonly right: NrqlTerm;
    };

/** What follows `WHERE`. */
export type NrqlCondition =
  | {
      readonly kind: 'compare';
      readonly attribute: string;
      readonly operator: NrqlComparison;
      readonly value: NrqlLiteral;
    }
  | { readonly kind: 'in'; readonly attribute: string; readonly values: readonly NrqlLiteral[] }
  /** `LIKE` and `RLIKE`. */
  | { readonly kind: 'matches'; readonly attribute: string; readonly pattern: RegExp }
  | { readonly kind: 'is_null'; readonly attribute: string }
  | { readonly kind: 'not'; readonly condition: NrqlCondition }
  | {
      readonly kind: 'and' | 'or';
      readonly left: NrqlCondition;
      readonly right: NrqlCondition;
    };

export const aggregateNames = [
  'count',
  'average',
  'sum',
  'min',
  'max',
  'stddev',
  'uniques',
  'uniqueCount',
  'latest',
  'percentile',
  'median',
  'apdex',
] as const;

export type NrqlAggregate = (typeof aggregateNames)[number];

/** A function of an attribute, which may be `*`, or of a term. */
export interface NrqlAggregateCall {
  readonly name: NrqlAggregate;
  /** As it is written. */
  readonly attribute: string;
  /** What is more than an attribute. */
  readonly term?: NrqlTerm | undefined;
  /** A field of the attribute `newrelic.timeslice.value`: only for `sum` and `average`. */
  readonly field?: keyof Timeslice | undefined;
  /** Of `average`: the field that it is divided by. */
  readonly divisor?: keyof Timeslice | undefined;
  /** Of `uniques`: how many at most. */
  readonly limit?: number | undefined;
  /** Of `percentile`: which; of `apdex`: the threshold in seconds. */
  readonly numbers?: readonly number[] | undefined;
}

/** What is selected. */
export type NrqlExpression =
  | { readonly kind: 'number'; readonly value: number }
  | (NrqlAggregateCall & { readonly kind: 'aggregate' })
  | { readonly kind: 'rate'; readonly of: NrqlExpression; readonly perMs: number }
  | {
      readonly kind: 'filter';
      readonly of: NrqlExpression;
      readonly condition: NrqlCondition;
    }
  /** 100 times what meets the condition, of all. */
  | {
      readonly kind: 'percentage';
      readonly of: NrqlExpression;
      readonly condition: NrqlCondition;
    }
  | {
      readonly kind: 'arithmetic';
      readonly operator: NrqlOperator;
      readonly left: NrqlExpression;
      readonly right: NrqlExpression;
    };

/** An end of the time range. */
export type NrqlMoment =
  | { readonly kind: 'at'; readonly timeMs: number }
  | { readonly kind: 'ago'; readonly ms: number };

/** A column, and what it is called in the answer. */
export interface NrqlColumn<Value> {
  readonly value: Value;
  readonly name: string;
}

/** What rows are grouped by. */
export interface NrqlFacet extends NrqlColumn<NrqlTerm> {
  /** As it is written, without `AS`. */
  readonly text: string;
}

/** A query, with the defaults of the vendor. */
export interface NrqlQuery {
  readonly select: readonly NrqlColumn<NrqlExpression>[];
  readonly eventTypes: readonly string[];
  readonly where: NrqlCondition | undefined;
  /** Empty without `FACET`. */
  readonly facets: readonly NrqlFacet[];
  readonly limit: number;
  readonly since: NrqlMoment;
  readonly until: NrqlMoment;
}
