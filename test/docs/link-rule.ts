import { posix } from 'node:path';
import type { TextDocument } from './documents.ts';
import { headingsIn, withoutCodeBlocks } from './markdown.ts';

/** The anchors of a document, made of its headings as GitHub makes them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const counts = new Map<string, number>();
  const anchors = headingsIn(text).map(({ title }) => {
    const slug = title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-');
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
  return new Set(anchors);
}

/** Targets of links and pictures that do not lead out of the project. */
export function relativeLinksIn(text: string): readonly string[] {
  const prose = withoutCodeBlocks(text).replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** Links of a document that lead nowhere: to no file, or to no heading of one. */
export function brokenLinksOf(
  document: TextDocument,
  documents: readonly TextDocument[],
  exists: (path: string) => boolean,
): readonly string[] {
  return relativeLinksIn(document.text).filter((link) => {
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? document.path : posix.join(posix.dirname(document.path), path);
    if (!exists(target)) return true;
    if (anchor === undefined) return false;
    const text = documents.find((other) => other.path === target)?.text;
    return text === undefined || !anchorsOf(text).has(anchor);
  });
}
