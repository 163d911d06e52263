import { type Node, SyntaxKind } from 'typescript/unstable/ast';
import {
  isBinaryExpression,
  isBindingElement,
  isComputedPropertyName,
  isElementAccessExpression,
} from 'typescript/unstable/ast/is';
import { type Project, type Type, TypeFlags } from 'typescript/unstable/sync';

/** The key of a member that the node looks up by a computed name; of `record[name]` it is `name`. */
function keyOf(node: Node): Node | undefined {
  if (isElementAccessExpression(node)) return node.argumentExpression;
  if (isBinaryExpression(node) && node.operatorToken.kind === SyntaxKind.InKeyword)
    return node.left;
  // `{ [name]: value } = record`; in an object literal it makes a member, whatever its name.
  const name = isBindingElement(node) ? node.propertyName : undefined;
  return name !== undefined && isComputedPropertyName(name) ? name.expression : undefined;
}

const closed =
  TypeFlags.StringLiteral | TypeFlags.NumberLike | TypeFlags.NumberLiteral | TypeFlags.ESSymbolLike;

/** Whether a key can only be a number, or one of the names that stand in the source. */
function isClosed(type: Type): boolean {
  return type.isUnionType() ? type.getTypes().every(isClosed) : (type.flags & closed) !== 0;
}

/**
 * Where members of objects are looked up by names that may come from outside, as the text of the source:
 * every object has a `constructor`. The types of the compiler say which names are those of the program.
 */
export function openLookups(
  { program, checker }: Project,
  paths: readonly string[],
): readonly string[] {
  return paths.flatMap((path) => {
    const file = program.getSourceFile(path);
    if (file === undefined) throw new Error(`${path} is not part of the program`);
    const found: [node: Node, key: Node][] = [];
    const visit = (node: Node): void => {
      const key = keyOf(node);
      if (key !== undefined) found.push([node, key]);
      node.forEachChild(visit);
    };
    visit(file);
    // `Name extends 'a' | 'b'` can be no more than that.
    const isOpen = (type: Type | undefined): boolean =>
      type === undefined || !isClosed(checker.getBaseConstraintOfType(type) ?? type);
    const types = checker.getTypeAtLocation(found.map(([, key]) => key));
    return found
      .filter((_, index) => isOpen(types[index]))
      .map(([node]) => `${path}: ${node.getText(file)}`);
  });
}
