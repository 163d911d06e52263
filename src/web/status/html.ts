import { visibleText } from '../../model/shown-text.ts';

/** Markup that may go into a page as it is: constants of ours, and texts between them, escaped. */
export class Html {
  readonly #markup: string;

  constructor(parts: readonly string[], children: readonly Child[]) {
    let markup = parts[0] ?? '';
    for (const [index, child] of children.entries()) {
      markup += Html.#of(child) + (parts[index + 1] ?? '');
    }
    this.#markup = markup;
  }

  static #of(child: Child): string {
    if (child instanceof Html) return child.#markup;
    if (typeof child === 'string') return escaped(visibleText(child));
    if (typeof child === 'number') return String(child);
    if (child === undefined || child === false) return '';
    return child.map((one) => Html.#of(one)).join('');
  }

  toString(): string {
    return this.#markup;
  }
}

/** What a template takes: texts are escaped; nothing comes of `undefined` and `false`. */
export type Child = Html | string | number | undefined | false | readonly Child[];

const htmlEntities: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&#39;'],
]);

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => htmlEntities.get(character) ?? character);
}

/**
 * Makes markup of a template. Texts in it become text of an element or of an attribute in double
 * quotes, whatever they hold; characters that nobody can see become visible.
 */
export function html(parts: TemplateStringsArray, ...children: readonly Child[]): Html {
  return new Html(parts, children);
}

/** For values that come back in a request: escaped, but not made visible. */
export function exactly(text: string): Html {
  return new Html([escaped(text)], []);
}
