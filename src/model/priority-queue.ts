interface Entry<Item> {
  readonly item: Item;
  readonly priority: number;
  readonly order: number;
}

/**
 * Items in the order of their priority, the lowest first. Each item is in the queue at most once.
 * A binary heap that knows the index of each item: every change of one item takes O(log n).
 */
export class PriorityQueue<Item> {
  readonly #heap: Entry<Item>[] = [];
  readonly #indexOf = new Map<Item, number>();

  /**
   * Adds an item that is not in it. Among items with the same priority the one with the lowest `order`
   * comes first.
   */
  add(item: Item, priority: number, order: number): void {
    this.#siftUp({ item, priority, order }, this.#heap.length);
  }

  delete(item: Item): void {
    const index = this.#indexOf.get(item);
    if (index === undefined) return;
    this.#indexOf.delete(item);
    const last = this.#heap.pop();
    if (last !== undefined && index < this.#heap.length) this.#place(last, index);
  }

  first(): Item | undefined {
    return this.#heap[0]?.item;
  }

  #put(entry: Entry<Item>, index: number): void {
    this.#heap[index] = entry;
    this.#indexOf.set(entry.item, index);
  }

  #place(entry: Entry<Item>, index: number): void {
    const parent = this.#heap[(index - 1) >> 1];
    if (index > 0 && parent !== undefined && isBefore(entry, parent)) this.#siftUp(entry, index);
    else this.#siftDown(entry, index);
  }

  #siftUp(entry: Entry<Item>, from: number): void {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = this.#heap[parentIndex];
      if (parent === undefined || !isBefore(entry, parent)) break;
      this.#put(parent, index);
      index = parentIndex;
    }
    this.#put(entry, index);
  }

  #siftDown(entry: Entry<Item>, from: number): void {
    let index = from;
    for (;;) {
      const leftIndex = 2 * index + 1;
      const left = this.#heap[leftIndex];
      if (left === undefined) break;
      const right = this.#heap[leftIndex + 1];
      const isRightFirst = right !== undefined && isBefore(right, left);
      const child = isRightFirst ? right : left;
      if (!isBefore(child, entry)) break;
      this.#put(child, index);
      index = isRightFirst ? leftIndex + 1 : leftIndex;
    }
    this.#put(entry, index);
  }
}

function isBefore<Item>(left: Entry<Item>, right: Entry<Item>): boolean {
  return (
    left.priority < right.priority || (left.priority === right.priority && left.order < right.order)
  );
}
