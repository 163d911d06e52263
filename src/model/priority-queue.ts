interface Prioritized {
  readonly priority: number;
  readonly order: number;
}

/**
 * Items in the order of their priority, the lowest first; among those with the same one, the lowest `order`.
 * A binary heap: adding an item and removing the first one takes O(log n).
 */
export class PriorityQueue<Item extends Prioritized> {
  readonly #heap: Item[] = [];

  first(): Item | undefined {
    return this.#heap[0];
  }

  add(item: Item): void {
    let index = this.#heap.length;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || !isBefore(item, parent)) break;
      this.#heap[index] = parent;
      index = parentIndex;
    }
    this.#heap[index] = item;
  }

  removeFirst(): void {
    const last = this.#heap.pop();
    if (last === undefined || this.#heap.length === 0) return;
    let index = 0;
    for (;;) {
      const left = this.#heap[2 * index + 1];
      const right = this.#heap[2 * index + 2];
      const isRightFirst = left !== undefined && right !== undefined && isBefore(right, left);
      const child = isRightFirst ? right : left;
      if (child === undefined || !isBefore(child, last)) break;
      this.#heap[index] = child;
      index = 2 * index + (isRightFirst ? 2 : 1);
    }
    this.#heap[index] = last;
  }
}

function isBefore(left: Prioritized, right: Prioritized): boolean {
  return (
    left.priority < right.priority || (left.priority === right.priority && left.order < right.order)
  );
}
