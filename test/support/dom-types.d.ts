/**
 * As much of the types of a browser as playwright-core and our tests name. With the whole library its
 * globals could be used everywhere, although only pages have them.
 */
interface Node {}
interface ComputedStyle {
  readonly color: string;
  readonly clipPath: string;
  readonly borderRadius: string;
  readonly borderStyle: string;
  readonly height: string;
}
interface Element extends Node {
  readonly className: string;
  readonly ownerDocument: {
    readonly defaultView: {
      getComputedStyle(element: Element, pseudo?: string): ComputedStyle;
    };
  };
}
interface HTMLElement extends Element {}
interface SVGElement extends Element {}
interface HTMLElementTagNameMap {}
