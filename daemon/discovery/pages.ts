// The pages /docs and /redoc, and the unlisted address of their files: everything from this daemon, under a strict policy.
import { createHash } from 'node:crypto';
import { builtText } from '../checkout/built.ts';
import { type Document, documentOf, HTML_TYPE } from './documents.ts';

const SCRIPT = 'text/javascript; charset=utf-8';
/** Styled components fill empty style elements from scripts; this is the hash of nothing. */
const EMPTY_STYLE = `'sha256-${createHash('sha256').update('').digest('base64')}'`;
/** The sheet of scroll bars that ReDoc 2.5.4 puts in itself. */
const SCROLLBAR_STYLE = "'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='";

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  `style-src 'self' ${EMPTY_STYLE} ${SCROLLBAR_STYLE}`,
  "img-src 'self' data:",
  "connect-src 'self'",
  'worker-src blob:',
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const pageHeaders = {
  'content-security-policy': policy,
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
};

interface Parts {
  title: string;
  styles: readonly string[];
  scripts: readonly string[];
  root: string;
}

const page = (prefix: string, { title, styles, scripts, root }: Parts): Document =>
  documentOf(
    HTML_TYPE,
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" type="image/png" href="${prefix}/favicon-32.png">
${styles.map((name) => `<link rel="stylesheet" href="${prefix}/docs/${name}">`).join('\n')}
</head>
<body>
<div id="${root}"></div>
<noscript>This page needs scripts. The same as text: <a href="${prefix}/llms-full.txt">llms-full.txt</a>.</noscript>
${scripts.map((name) => `<script src="${prefix}/docs/${name}"></script>`).join('\n')}
</body>
</html>
`,
  );

const swagger: Parts = {
  title: 'gatewayd: Swagger UI',
  styles: ['swagger-ui.css'],
  scripts: ['swagger-ui.js', 'swagger-start.js'],
  root: 'swagger-ui',
};

const redoc: Parts = {
  title: 'gatewayd: API reference',
  styles: ['page.css'],
  scripts: ['redoc.js', 'redoc-start.js'],
  root: 'redoc',
};

/** Both pages; a proxy may serve the deployment below a path. */
export function pagesOf(base_url: string): { swagger: Document; redoc: Document } {
  const prefix = new URL(base_url).pathname.replace(/\/+$/, '');
  return { swagger: page(prefix, swagger), redoc: page(prefix, redoc) };
}

const texts: Readonly<Record<string, Document>> = {
  'swagger-start.js': documentOf(SCRIPT, builtText('swagger-start.js')),
  'redoc-start.js': documentOf(SCRIPT, builtText('redoc-start.js')),
  'page.css': documentOf('text/css; charset=utf-8', builtText('docs.css')),
};

/** A file of the pages that is our own; undefined for another name. */
export const pageFile = (name: string): Document | undefined =>
  Object.hasOwn(texts, name) ? texts[name] : undefined;
