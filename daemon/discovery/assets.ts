// The files behind /docs and /redoc: copied by the build (copy-assets.ts), or read from the packages where there was none.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { built } from '../checkout/built.ts';
import { type Document, documentOf } from './documents.ts';

const compress = promisify(gzip);
const require = createRequire(import.meta.url);

const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';

interface Asset {
  type: string;
  /** The file in its package. */
  from: string;
  /** What ReDoc would load from elsewhere. */
  replace?: readonly [string, string];
}

const NOTHING = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==';

export const assets: Readonly<Record<string, Asset>> = {
  'swagger-ui.css': { type: STYLE, from: 'swagger-ui-dist/swagger-ui.css' },
  'swagger-ui.js': { type: SCRIPT, from: 'swagger-ui-dist/swagger-ui-bundle.js' },
  'redoc.js': {
    type: SCRIPT,
    from: 'redoc/bundles/redoc.standalone.js',
    replace: ['https://cdn.redoc.ly/redoc/logo-mini.svg', NOTHING],
  },
};

/** Texts that come along, by the package they belong to. */
export const licences = [
  'swagger-ui-dist/LICENSE',
  'swagger-ui-dist/swagger-ui-bundle.js.LICENSE.txt',
  'redoc/LICENSE',
  'redoc/bundles/redoc.standalone.js.LICENSE.txt',
] as const;

/** The file in node_modules, whatever the package exports. */
export function packageFile(path: string): string {
  const [name = '', ...rest] = path.split('/');
  return require.resolve(`${name}/package.json`).replace(/package\.json$/, rest.join('/'));
}

export interface Packed {
  plain: Document;
  gzipped: Document;
}

export interface Assets {
  /** One of `assets`, read and compressed when it is first asked for; undefined for another name. */
  get(name: string): Promise<Packed> | undefined;
}

export function openAssets(): Assets {
  const read = new Map<string, Promise<Packed>>();
  return {
    get(name) {
      const asset = Object.hasOwn(assets, name) ? assets[name] : undefined;
      if (!asset) return undefined;
      let packed = read.get(name);
      if (packed === undefined) {
        packed = pack(name, asset);
        read.set(name, packed);
        // A file that could not be read is tried again by the next caller.
        packed.catch(() => read.delete(name));
      }
      return packed;
    },
  };
}

async function pack(name: string, { type, from, replace }: Asset): Promise<Packed> {
  const here = new URL(name, built);
  const text = await readFile(existsSync(here) ? here : packageFile(from), 'utf8');
  const plain = documentOf(type, replace ? text.replaceAll(...replace) : text);
  return { plain, gzipped: documentOf(type, await compress(plain.body)) };
}
