/** @jsxImportSource preact */
// The runbook as a page: no script, nothing from elsewhere, readable on a phone.
import { createHash } from 'node:crypto';
import { renderToString } from 'preact-render-to-string';
import { type Document, documentOf, HTML_TYPE } from '../discovery/documents.ts';
import { commandFor, FIRST, type Section, sections } from './sections.ts';
import { leadsOf } from './text.ts';

const STYLE = `:root{color-scheme:light dark}
body{max-width:44rem;margin:0 auto;padding:1rem;font:1rem/1.5 system-ui,sans-serif}
code{font-size:.95em;overflow-wrap:anywhere}
section{border-top:1px solid;margin-top:2rem}
section:target{border-top-width:4px}`;

export const runbookHeaders = {
  'content-security-policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'x-frame-options': 'DENY',
};

export const runbookPage = (): Document =>
  documentOf(HTML_TYPE, `<!doctype html>${renderToString(<Page />)}\n`);

const Page = () => (
  <html lang="en">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1" />
      <meta name="robots" content="noindex" />
      <title>gatewayd: when something is wrong</title>
      {/* biome-ignore lint/security/noDangerouslySetInnerHtml: our own sheet */}
      <style dangerouslySetInnerHTML={{ __html: STYLE }} />
    </head>
    <body>
      <main>
        <h1>When something is wrong</h1>
        {FIRST.map((text) => (
          <p key={text}>
            <Text text={text} />
          </p>
        ))}
        <nav>
          <ul>
            {sections.map(({ anchor, title }) => (
              <li key={anchor}>
                <a href={`#${anchor}`}>{title}</a>
              </li>
            ))}
          </ul>
        </nav>
        {sections.map((section) => (
          <Part key={section.anchor} section={section} />
        ))}
      </main>
    </body>
  </html>
);

const Part = ({ section }: { section: Section }) => {
  const { anchor, title, means, steps, never = [] } = section;
  return (
    <section id={anchor}>
      <h2>{title}</h2>
      <p>
        <small>{[...leadsOf(section), commandFor(anchor)].join(' · ')}</small>
      </p>
      <p>
        <Text text={means} />
      </p>
      <h3>What to do</h3>
      <List texts={steps} />
      {never.length > 0 && <h3>What not to do</h3>}
      {never.length > 0 && <List texts={never} />}
    </section>
  );
};

const List = ({ texts }: { texts: readonly string[] }) => (
  <ul>
    {texts.map((text) => (
      <li key={text}>
        <Text text={text} />
      </li>
    ))}
  </ul>
);

/** What stands in backticks is code. */
const Text = ({ text }: { text: string }) => (
  <>{text.split('`').map((part, at) => (at % 2 === 1 ? <code key={part}>{part}</code> : part))}</>
);
