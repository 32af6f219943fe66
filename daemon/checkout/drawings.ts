// Pictures that are drawn once and cached: who asks for one that is being drawn gets that.
import { LRUCache } from 'lru-cache';

/** What an entry takes besides its key and its picture. */
const ENTRY_BYTES = 200;

export interface Drawings<Picture extends string | Buffer> {
  /** The picture of that name, or what `draw` makes; `mayDraw` is asked before and refuses by throwing. */
  get(name: string, draw: () => Promise<Picture>, mayDraw?: () => void): Promise<Picture>;
}

export function openDrawings<Picture extends string | Buffer>(max_bytes: number): Drawings<Picture> {
  const drawn = new LRUCache<string, Picture>({
    maxSize: max_bytes,
    sizeCalculation: (picture, name) => ENTRY_BYTES + name.length + picture.length,
  });
  const under_way = new Map<string, Promise<Picture>>();
  return {
    async get(name, draw, mayDraw) {
      const known = drawn.get(name) ?? under_way.get(name);
      if (known !== undefined) return known;
      mayDraw?.();
      const drawing = draw();
      under_way.set(name, drawing);
      try {
        const picture = await drawing;
        drawn.set(name, picture);
        return picture;
      } finally {
        under_way.delete(name);
      }
    },
  };
}
