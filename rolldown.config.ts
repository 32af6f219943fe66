// Builds what browsers are given into dist/assets: scripts and style sheets minified, pictures as they are; then the programs.
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { Features, transform } from 'lightningcss';
import type { BuildOptions, Plugin } from 'rolldown';
import { programs } from './.ci/programs.ts';
import { tokens } from './daemon/checkout/styles/palette.ts';

const OUT = 'dist/assets';
const checkout = 'daemon/checkout';
const pictures = `${checkout}/assets`;
const LINK_SHEET = 'daemon/accounts/browser/link-page.css';
const DOCS_SHEET = 'daemon/discovery/browser/docs.css';
/** Folders of logos, and the logos in them. */
const folders = ['coins', 'wallets'];
const drawn = folders.flatMap((folder) =>
  readdirSync(`${pictures}/${folder}`)
    .sort()
    .map((name) => `${folder}/${name}`),
);
/** Syntax of 2018: what a browser of then cannot do, the page does without. */
const TARGET = 'es2018';

/** Each becomes one classic script of its own, whatever it imports. */
const scripts = {
  'checkout.js': `${checkout}/browser/checkout.ts`,
  'embed.js': `${checkout}/browser/embed.ts`,
  'link-page.js': 'daemon/accounts/browser/link-page.ts',
  'swagger-start.js': 'daemon/discovery/browser/swagger-start.ts',
  'redoc-start.js': 'daemon/discovery/browser/redoc-start.ts',
};

const textOf = (file: string): string => readFileSync(file, 'utf8');

const NARROW = '(max-width: 640px)';
const LOW = '(max-height: 480px)';

/** The sheet of a checkout, with what it does on phones: by what its pointer is, and where the browser says that it is one. */
function checkoutSheet(): string {
  const touch = textOf(`${checkout}/styles/touch.css`);
  const phone = textOf(`${checkout}/styles/phone.css`);
  const sheet = textOf(`${checkout}/styles/checkout.css`);
  const [before = '', after = ''] = sheet.split('/* phones */');
  const nested = `@media (pointer: coarse) {${touch}}
&.phone {${touch}}
@media screen and (pointer: coarse) and ${NARROW}, screen and (pointer: coarse) and ${LOW} {${phone}}
@media screen and ${NARROW}, screen and ${LOW} {&.phone {${phone}}}`;
  return `${before}${nested}${after}`;
}

/** For a whole page of ours: the root's font size is the browser's. */
const pageSheet = (): string =>
  [tokens(':root'), textOf(`${checkout}/styles/page.css`), '.gw{font-size:1rem}', checkoutSheet()].join('\n');

/** For a fragment in a foreign page, whose own font size may be anything. */
const fragmentSheet = (): string =>
  [
    textOf(`${checkout}/styles/fragment.css`),
    coinRules(),
    tokens('.gw'),
    '.gw{font-size:16px}',
    checkoutSheet(),
  ].join('\n');

/** Rules that hold the colours of logos against the style of a foreign page, which outweighs attributes. */
function coinRules(): string {
  const rules = new Set<string>();
  for (const name of drawn)
    for (const [, attribute, value] of textOf(`${pictures}/${name}`).matchAll(
      / (fill|stroke|stroke-width)="([^"]+)"/g,
    ))
      rules.add(`.gw .logo [${attribute}="${value}"]{${attribute}:${value}}`);
  return [...rules].join('\n');
}

function minified(filename: string, sheet: string): string {
  const { code, warnings } = transform({
    filename,
    code: Buffer.from(sheet),
    minify: true,
    // Browsers of before 2023 read no nested rules; everything else stays as it is written.
    include: Features.Nesting,
  });
  if (warnings.length > 0)
    throw new Error(`${filename}: ${warnings.map(({ message }) => message).join(', ')}`);
  return code.toString();
}

/** Binds every selector of a minified sheet to a root that outweighs ids, and every declaration over `!important`. */
function hardened(sheet: string): string {
  return sheet
    .replace(/\.gw(?![\w-])/g, '.gw:not(#_):not(#_)')
    .replace(/\{([^{}]+)\}/g, (_, declarations: string) => {
      const marked = declarations.split(';').map((declaration) => `${declaration}!important`);
      return `{${marked.join(';')}}`;
    });
}

/** A drawing to be put into a page or sent as a file: without the line breaks of its source. */
const drawing = (file: string): string => textOf(file).replace(/>\s+</g, '><').trim();

/** Sheets and pictures, which no script imports. */
const shipped: Plugin = {
  name: 'sheets and pictures',
  buildStart() {
    // What was built of a picture that is gone would still be served.
    for (const folder of folders) {
      const built = existsSync(`${OUT}/${folder}`) ? readdirSync(`${OUT}/${folder}`) : [];
      for (const name of built) if (!drawn.includes(`${folder}/${name}`)) rmSync(`${OUT}/${folder}/${name}`);
    }
  },
  generateBundle() {
    const emit = (fileName: string, source: string | Uint8Array): void => {
      this.emitFile({ type: 'asset', fileName, source });
    };
    emit('page.css', minified('page.css', pageSheet()));
    emit('fragment.css', hardened(minified('fragment.css', fragmentSheet())));
    emit('link-page.css', minified('link-page.css', textOf(LINK_SHEET)));
    emit('docs.css', minified('docs.css', textOf(DOCS_SHEET)));
    for (const name of ['logo.png', 'favicon.png', 'letters.png'])
      emit(name, readFileSync(`${pictures}/${name}`));
    emit('mark.svg', drawing(`${pictures}/mark.svg`));
    for (const name of drawn) emit(name, drawing(`${pictures}/${name}`));
  },
};

/** What browsers are given; the sources, which tests run, read it too. */
export const browser: BuildOptions[] = Object.entries(scripts).map(([name, input], index) => ({
  input,
  tsconfig: 'tsconfig.browser.json',
  transform: { target: TARGET },
  plugins: index === 0 ? [shipped] : [],
  output: { dir: OUT, entryFileNames: name, format: 'iife', minify: true },
  onLog(_level, log): void {
    throw new Error(log.message);
  },
}));

export default [...browser, ...programs];
