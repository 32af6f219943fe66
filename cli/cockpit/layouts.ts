// Which columns of a list are shown and by what it is sorted, stored for each profile and view: a screen comes back as it was left.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';

const Layout = z.object({
  /** Columns that are shown or hidden otherwise than by default. */
  columns: z.record(z.string(), z.boolean()).default({}),
  sort: z.object({ title: z.string(), reversed: z.boolean() }).optional(),
});
export type Layout = z.output<typeof Layout>;

const File = z.record(z.string(), z.record(z.string(), z.unknown()));

const NAME = 'screens.json';

/** `stored`: the file of profiles, next to which they are. */
export class Layouts {
  readonly #path: string;
  readonly #profile: string;

  constructor(stored: string, profile: string) {
    this.#path = join(dirname(stored), NAME);
    this.#profile = profile;
  }

  /** What was stored for the view; nothing where the file is absent or broken: no money hangs on it. */
  of(view: string): Layout {
    return Layout.safeParse(this.#all()[this.#profile]?.[view]).data ?? { columns: {} };
  }

  /** Throws where it cannot be written. */
  keep(view: string, layout: Layout): void {
    // Read again: other screens keep theirs.
    const all = this.#all();
    const next = { ...all, [this.#profile]: { ...all[this.#profile], [view]: layout } };
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    const written = `${this.#path}.${process.pid}`;
    writeFileSync(written, `${JSON.stringify(next, null, 2)}\n`, { mode: 0o600 });
    renameSync(written, this.#path);
  }

  #all(): z.output<typeof File> {
    try {
      return File.safeParse(JSON.parse(readFileSync(this.#path, 'utf8'))).data ?? {};
    } catch {
      return {};
    }
  }
}
