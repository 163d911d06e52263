import { parse } from 'yaml';
import { readDocument } from '../docs/documents.ts';
import { codeBlocksIn } from '../docs/markdown.ts';

/** The blocks of YAML, by the comment that each begins with. */
const blocks = new Map(
  codeBlocksIn(readDocument('docs/kubernetes.md').text)
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => [/^# (?:The )?([\w-]+)/u.exec(text)?.[1] ?? '', text] as const),
);

/** The block of YAML that begins with the comment. Throws without it. */
export function block(name: string): string {
  const text = blocks.get(name);
  if (text === undefined) throw new Error(`docs/kubernetes.md has no ${name}`);
  return text;
}

interface Autoscaler {
  readonly spec: {
    readonly metrics: readonly {
      readonly external?: {
        readonly metric: {
          readonly name: string;
          readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
        };
        readonly target: { readonly averageValue: string };
      };
    }[];
  };
}

interface ScaledObject {
  readonly spec: {
    readonly minReplicaCount: number;
    readonly triggers: readonly {
      readonly type: string;
      readonly metadata: Readonly<Record<string, string>>;
    }[];
  };
}

export const autoscaler: Autoscaler = parse(block('HorizontalPodAutoscaler')) as Autoscaler;
export const scaledObject: ScaledObject = parse(block('ScaledObject')) as ScaledObject;
