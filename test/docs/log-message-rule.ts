import type { Node } from '@oxc-project/types';
import { parseAst } from 'rolldown/parseAst';
import type { SourceFile } from '../architecture/source-files.ts';
import { codeWordsIn, rowsWith } from './markdown.ts';

/** A message as the code logs it. */
export interface LogMessage {
  readonly message: string;
  readonly level: string;
  /** Those that can be read off the code; there may be more. */
  readonly fields: readonly string[];
}

const levels: ReadonlySet<string> = new Set(['debug', 'info', 'warn', 'error']);

/** Passes on the lines of others. */
const boundedLogger = 'telemetry/bounded-logger.ts';

/** Every message that the code can log, found in its syntax. Throws for one that it cannot read. */
export function loggedMessages(files: readonly SourceFile[]): readonly LogMessage[] {
  return files.flatMap((file) => {
    const nodes = [...nodesOf(parseAst(file.text, { lang: 'ts' }))];
    return nodes.flatMap((node): readonly LogMessage[] => {
      const declared = (name: string): Node | undefined => declarationOf(nodes, name, node.start);
      const call = logCallOf(node);
      if (call === undefined || file.path === boundedLogger) return [];
      const messages = textsOf(call.message, declared);
      if (call.level === undefined || messages === undefined) {
        throw new Error(`${file.path}: a log call whose level or message cannot be read`);
      }
      const { level } = call;
      const fields = fieldsOf(call.fields, declared);
      return messages.map((message) => ({ message, level, fields }));
    });
  });
}

function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if (isNode(value)) yield value;
  for (const child of Object.values(value)) yield* nodesOf(child);
}

function isNode(value: object): value is Node {
  return 'type' in value && typeof value.type === 'string';
}

interface LogCall {
  /** `undefined` if it is not a word. */
  readonly level: string | undefined;
  readonly fields: Node;
  readonly message: Node;
}

/** A call of `logger.warn(fields, message)`, or of the logger that is a member of something. */
function logCallOf(node: Node): LogCall | undefined {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined;
  const { object, property, computed } = node.callee;
  const name = object.type === 'MemberExpression' ? object.property : object;
  if (name.type !== 'Identifier' || !['logger', 'log'].includes(name.name)) return undefined;
  const level = property.type === 'Identifier' && !computed ? property.name : undefined;
  if (level !== undefined && !levels.has(level)) return undefined;
  const [fields, message] = node.arguments;
  return fields === undefined || message === undefined ? undefined : { level, fields, message };
}

/** What the last variable of this name before a place is declared as. */
function declarationOf(nodes: readonly Node[], name: string, before: number): Node | undefined {
  let value: Node | undefined;
  for (const node of nodes) {
    if (node.type !== 'VariableDeclarator' || node.start > before) continue;
    if (node.id.type === 'Identifier' && node.id.name === name) value = node.init ?? undefined;
  }
  return value;
}

type Declared = (name: string) => Node | undefined;

function textsOf(node: Node, declared: Declared): readonly string[] | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return [node.value];
  if (node.type === 'ConditionalExpression') {
    const [left, right] = [node.consequent, node.alternate].map((one) => textsOf(one, declared));
    return left && right && [...left, ...right];
  }
  const value = node.type === 'Identifier' ? declared(node.name) : undefined;
  return value && textsOf(value, declared);
}

/** The names of the properties of an object, of those that are spread into it too. */
function fieldsOf(node: Node, declared: Declared): readonly string[] {
  if (node.type === 'ConditionalExpression') {
    return [...fieldsOf(node.consequent, declared), ...fieldsOf(node.alternate, declared)];
  }
  if (node.type === 'Identifier') {
    const value = declared(node.name);
    return value === undefined ? [] : fieldsOf(value, declared);
  }
  if (node.type !== 'ObjectExpression') return [];
  return node.properties.flatMap((property) => {
    if (property.type === 'SpreadElement') return fieldsOf(property.argument, declared);
    return property.key.type === 'Identifier' ? [property.key.name] : [];
  });
}

/** Where the tables of messages differ from what the code logs. */
export function logProblems(text: string, logged: readonly LogMessage[]): readonly string[] {
  const rows = rowsWith(text, ['message', 'level', 'fields', 'meaning']).flatMap((row) =>
    codeWordsIn(row.message).map((message) => ({ ...row, message })),
  );
  const known = new Set(logged.map(({ message }) => message));
  const names = rows.map(({ message }) => message);
  return [
    ...logged.flatMap(({ message, level, fields }) => {
      const row = rows.find((candidate) => candidate.message === message);
      if (row === undefined) return [`"${message}" is not documented`];
      const named = codeWordsIn(row.fields);
      return [
        ...(row.level.split(', ').includes(level) ? [] : [`"${message}" has the level ${level}`]),
        ...fields
          .filter((field) => !named.includes(field))
          .map((field) => `"${message}" has the field ${field}`),
      ];
    }),
    ...names.filter((name) => !known.has(name)).map((name) => `"${name}" is logged nowhere`),
    ...names
      .filter((name, index) => names.indexOf(name) !== index)
      .map((name) => `"${name}" is documented twice`),
  ];
}
