import { describe, expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { ownLabels } from '../../src/model/own-names.ts';
import { presetNames } from '../../src/model/presets.ts';
import { regions } from '../../src/model/region.ts';
import { readProductDocuments } from './documents.ts';

const sets: Readonly<Record<string, readonly string[]>> = {
  regions,
  presets: presetNames,
  commands,
  labels: ownLabels,
};

/** Sentences, cells and items without what stands in blocks of code. */
function sentencesIn(text: string): readonly string[] {
  return text
    .replaceAll(/^```.*?^```/gmsu, '')
    .split(/\n\n|\n(?=[-|])|(?<=[.:;]) | \| /u)
    .map((one) => one.replaceAll('\n', ' '));
}

/** The words of a set that a sentence has in backticks. */
function wordsOf(sentence: string, set: readonly string[]): readonly string[] {
  const words = new Set([...sentence.matchAll(/`([^`]+)`/gu)].map(([, word]) => word));
  return set.filter((word) => words.has(word));
}

describe('a sentence that writes out a closed set', () => {
  it.each(Object.entries(sets))('has all of the %s, if it has most', (_, set) => {
    const wrong = readProductDocuments().flatMap(({ path, text }) =>
      sentencesIn(text).flatMap((sentence) => {
        const found = wordsOf(sentence, set);
        return found.length > set.length / 2 && found.length < set.length
          ? [`${path}: ${sentence}`]
          : [];
      }),
    );

    expect(wrong).toEqual([]);
  });

  it.each([
    ['regions', regions],
    ['presets', presetNames],
    ['labels', ownLabels],
  ])('is there once, of the %s', (_, set) => {
    const places = readProductDocuments()
      .filter(({ path }) => path !== 'CHANGELOG.md')
      .flatMap(({ path, text }) =>
        sentencesIn(text).flatMap((sentence) =>
          wordsOf(sentence, set).length === set.length ? [path] : [],
        ),
      );

    expect(places).toHaveLength(1);
  });
});
