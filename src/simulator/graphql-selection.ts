import type {
  DirectiveNode,
  FieldNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql/language/ast.js';
import { Kind } from 'graphql/language/kinds.js';
import { valueFromASTUntyped } from 'graphql/utilities/valueFromASTUntyped.js';
import type { GraphqlRequest, GraphqlVariables } from './graphql-request.ts';

/** The arguments of a field, with variables filled in. Enums are texts. */
export type GraphqlArguments = Readonly<Record<string, unknown>>;

export function argumentsOf(
  node: FieldNode | DirectiveNode,
  variables: GraphqlVariables,
): GraphqlArguments {
  return Object.fromEntries(
    (node.arguments ?? []).map((argument) => [
      argument.name.value,
      // It gives no value for a variable without one; the field then has its default.
      valueFromASTUntyped(argument.value, variables) ?? undefined,
    ]),
  );
}

/** What a field is called in the answer. */
function responseKeyOf(field: FieldNode): string {
  return field.alias?.value ?? field.name.value;
}

function isWanted(selection: SelectionNode, variables: GraphqlVariables): boolean {
  return (selection.directives ?? []).every((directive) => {
    const condition = argumentsOf(directive, variables)['if'];
    if (directive.name.value === 'skip') return condition !== true;
    if (directive.name.value === 'include') return condition === true;
    return true;
  });
}

/**
 * The fields that selection sets choose, by their names in the answer, with fragments dissolved. A
 * fragment for another type than `types` is left out; without `types` none is.
 */
export function fieldsOf(
  selectionSets: readonly SelectionSetNode[],
  types: readonly string[] | undefined,
  request: GraphqlRequest,
): ReadonlyMap<string, readonly FieldNode[]> {
  const found = new Map<string, readonly FieldNode[]>();
  const open = new Set<string>();

  const addFragment = (condition: string | undefined, set: SelectionSetNode): void => {
    if (types === undefined || condition === undefined || types.includes(condition)) add(set);
  };
  const addSelection = (selection: SelectionNode): void => {
    if (selection.kind === Kind.FIELD) {
      const key = responseKeyOf(selection);
      found.set(key, [...(found.get(key) ?? []), selection]);
    } else if (selection.kind === Kind.INLINE_FRAGMENT) {
      addFragment(selection.typeCondition?.name.value, selection.selectionSet);
    } else {
      const name = selection.name.value;
      const fragment = request.fragments.get(name);
      if (fragment === undefined || open.has(name)) return;
      open.add(name);
      addFragment(fragment.typeCondition.name.value, fragment.selectionSet);
      open.delete(name);
    }
  };
  const add = (set: SelectionSetNode): void => {
    for (const selection of set.selections) {
      if (isWanted(selection, request.variables)) addSelection(selection);
    }
  };

  for (const set of selectionSets) add(set);
  return found;
}

/** The selection sets of fields that have the same name in the answer. */
export function selectionSetsOf(fields: readonly FieldNode[]): readonly SelectionSetNode[] {
  return fields.map(({ selectionSet }) => selectionSet).filter((set) => set !== undefined);
}
