/** Items in the order of their priority, the least first; an item is in it once. */
export interface PriorityQueue<Item> {
  readonly size: number;
  /**
   * Adds the item, or moves it. Of items with the same priority the one with the least `order` is
   * first; without it, the one that was set first.
   */
  set(item: Item, priority: number, order?: number): void;
  delete(item: Item): void;
  first(): Item | undefined;
  /** The priority of the first item; infinity when there is none. */
  firstPriority(): number;
  /** Gives every item another priority; `next` must not change which of two is the greater one. */
  mapPriorities(next: (priority: number) => number): void;
}

interface Entry<Item> {
  readonly item: Item;
  readonly priority: number;
  readonly order: number;
}

/** A binary heap that knows where each item is: every change takes O(log n). */
export function createPriorityQueue<Item>(): PriorityQueue<Item> {
  const heap: Entry<Item>[] = [];
  const indexOf = new Map<Item, number>();
  let sequence = 0;

  const put = (entry: Entry<Item>, index: number): void => {
    heap[index] = entry;
    indexOf.set(entry.item, index);
  };

  const siftUp = (entry: Entry<Item>, from: number): void => {
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = heap[parentIndex];
      if (parent === undefined || !isBefore(entry, parent)) break;
      put(parent, index);
      index = parentIndex;
    }
    put(entry, index);
  };

  const siftDown = (entry: Entry<Item>, from: number): void => {
    let index = from;
    for (;;) {
      const leftIndex = 2 * index + 1;
      const left = heap[leftIndex];
      if (left === undefined) break;
      const right = heap[leftIndex + 1];
      const isRightFirst = right !== undefined && isBefore(right, left);
      const child = isRightFirst ? right : left;
      if (!isBefore(child, entry)) break;
      put(child, index);
      index = isRightFirst ? leftIndex + 1 : leftIndex;
    }
    put(entry, index);
  };

  const place = (entry: Entry<Item>, index: number): void => {
    const parent = heap[(index - 1) >> 1];
    if (index > 0 && parent !== undefined && isBefore(entry, parent)) siftUp(entry, index);
    else siftDown(entry, index);
  };

  return {
    get size() {
      return heap.length;
    },
    set: (item, priority, order = sequence) => {
      const index = indexOf.get(item);
      if (index !== undefined && heap[index]?.priority === priority) return;
      const entry = { item, priority, order };
      sequence += 1;
      if (index === undefined) siftUp(entry, heap.length);
      else place(entry, index);
    },
    delete: (item) => {
      const index = indexOf.get(item);
      if (index === undefined) return;
      indexOf.delete(item);
      const last = heap.pop();
      if (last !== undefined && index < heap.length) place(last, index);
    },
    first: () => heap[0]?.item,
    firstPriority: () => heap[0]?.priority ?? Number.POSITIVE_INFINITY,
    mapPriorities: (next) => {
      for (const [index, entry] of heap.entries()) {
        heap[index] = { ...entry, priority: next(entry.priority) };
      }
    },
  };
}

function isBefore<Item>(left: Entry<Item>, right: Entry<Item>): boolean {
  return (
    left.priority < right.priority || (left.priority === right.priority && left.order < right.order)
  );
}
