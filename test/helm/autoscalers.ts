import { parse } from 'yaml';
import { readDocument } from '../docs/documents.ts';

/** The text of an example, such as `scaled-object`. Throws without it. */
export function example(name: string): string {
  return readDocument(`examples/autoscaling/${name}.yaml`).text;
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

export const autoscaler: Autoscaler = parse(example('horizontal-pod-autoscaler')) as Autoscaler;
export const scaledObject: ScaledObject = parse(example('scaled-object')) as ScaledObject;
