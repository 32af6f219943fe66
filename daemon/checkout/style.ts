// The look of checkout: one style sheet, for whole pages as it is, for fragments hardened against the page around them.

import { logoRules } from './logos.ts';

/** `&` stands for the root of the checkout. Lengths are em, so that all follows the root's font size. */
const SHEET = `
&{--gw-ink:#141b2d;--gw-soft:#4c566b;--gw-line:#dde2ec;--gw-card:#fff;--gw-field:#f4f6fa;--gw-accent:#1552c8;--gw-on:#fff;--gw-good:#0b6b34;--gw-goodbg:#e7f6ec;--gw-warn:#7a4300;--gw-warnbg:#fff3dc;--gw-bad:#a51d13;--gw-badbg:#fdeceb;--gw-info:#12459f;--gw-infobg:#e9f0fd;display:block;box-sizing:border-box;width:100%;max-width:26em;margin:0 auto;container-type:inline-size;color:var(--gw-ink);font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Helvetica Neue",Arial,sans-serif;font-size:$FONT;line-height:1.5;text-align:start;color-scheme:light dark;-webkit-text-size-adjust:100%}
& *{box-sizing:border-box}
&.s-sm{max-width:20em}
&.s-md{max-width:30em}
&.s-lg,&.s-desktop{max-width:54em}
&.s-site,&.s-page,&.s-url{max-width:58em}
& .card{display:grid;grid-template-columns:minmax(0,1fr);background:var(--gw-card);border:1px solid var(--gw-line);border-radius:1.1em;overflow:hidden;box-shadow:0 1px 2px rgba(16,24,40,.05),0 .6em 2em -.8em rgba(16,24,40,.18)}
& .what{padding:1.4em 1.25em 1.1em;border-bottom:1px solid var(--gw-line)}
& .pay{padding:1.25em}
& .more{padding:1.1em 1.25em 1.3em;border-top:1px solid var(--gw-line);background:var(--gw-field)}
@container (min-width:45em){
& .card{grid-template-columns:minmax(0,5fr) minmax(0,7fr);grid-template-rows:auto 1fr}
& .what{padding:1.9em 1.75em .6em;border:0;background:var(--gw-field)}
& .pay{grid-column:2;grid-row:1/3;padding:1.9em 1.9em 1.6em;border-inline-start:1px solid var(--gw-line)}
& .more{padding:.4em 1.75em 1.75em;border:0}
}
& p{margin:0}
& .who{display:flex;align-items:center;gap:.6em;font-weight:600;overflow-wrap:anywhere}
& .mark{display:grid;place-items:center;flex:none;width:2.1em;height:2.1em;border-radius:.65em;background:var(--gw-accent);color:var(--gw-on);font-weight:700}
& .title{margin:.75em 0 0;font-size:1.06em;font-weight:600;line-height:1.35;overflow-wrap:anywhere}
& .desc{margin-top:.25em;color:var(--gw-soft);font-size:.94em;overflow-wrap:anywhere;white-space:pre-line}
& .usd{margin-top:.45em;font-size:2.1em;font-size:clamp(1.3em,11.5cqi,2.1em);font-weight:700;line-height:1.15;letter-spacing:-.015em;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
& .coin{display:flex;align-items:center;gap:.5em;margin-top:.4em;color:var(--gw-soft);overflow-wrap:anywhere}
& .logo{display:block;flex:none;width:1.5em;height:1.5em}
& .note{margin-top:.8em;font-size:.86em;color:var(--gw-warn);background:var(--gw-warnbg);border-radius:.6em;padding:.45em .75em}
& .state{display:flex;gap:.8em;padding:.9em 1em;border-radius:.85em;background:var(--gw-infobg);color:var(--gw-info)}
& .state.good{background:var(--gw-goodbg);color:var(--gw-good)}
& .state.warn{background:var(--gw-warnbg);color:var(--gw-warn)}
& .state.bad{background:var(--gw-badbg);color:var(--gw-bad)}
& .icon{display:block;flex:none;width:1.6em;height:1.6em;fill:none;stroke:currentColor;stroke-width:2;stroke-linecap:round;stroke-linejoin:round}
& .icon *{fill:none;stroke:currentColor;stroke-width:2}
& .words{min-width:0;flex:1}
& .head{margin:0;font-size:1.1em;font-weight:700;line-height:1.35}
& .text{margin-top:.2em;color:var(--gw-ink);font-size:.95em;overflow-wrap:anywhere}
& .bar{display:block;width:100%;height:.4em;margin-top:.7em;border:0;border-radius:1em;overflow:hidden;background:var(--gw-line);color:currentColor;appearance:none;-webkit-appearance:none}
& .bar::-webkit-progress-bar{background:var(--gw-line)}
& .bar::-webkit-progress-value{background:currentColor;border-radius:1em}
& .bar::-moz-progress-bar{background:currentColor;border-radius:1em}
& .time{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1em;margin-top:.55em;color:var(--gw-ink);font-size:.92em}
& .time b{font-variant-numeric:tabular-nums;font-weight:700}
&.soon .left,&.soon .left b{color:var(--gw-bad)}
&:not(.js):not(.page) .left{display:none}
& .before{color:var(--gw-soft);font-size:.86em;margin-top:.15em}
& .opens{display:flex;flex-wrap:wrap;gap:.55em;margin-top:1.1em}
& .btn{display:inline-flex;align-items:center;justify-content:center;gap:.5em;min-height:3em;margin:0;padding:.5em 1.1em;border:1px solid var(--gw-line);border-radius:.8em;background:var(--gw-card);color:var(--gw-ink);font-family:inherit;font-size:1em;font-weight:600;line-height:1.25;text-align:center;text-decoration:none;cursor:pointer}
& .opens .btn{flex:1 1 11em}
& .btn.first{flex-basis:100%;border-color:var(--gw-accent);background:var(--gw-accent);color:var(--gw-on)}
& .btn:hover{border-color:var(--gw-accent)}
& .btn.first:hover{filter:brightness(1.08)}
& .hint{margin:.55em 0 0;color:var(--gw-soft);font-size:.86em}
& .scan{margin-top:1.2em;text-align:center}
& .qr{display:block;width:15.5em;max-width:100%;margin:0 auto;padding:.35em;border-radius:.85em;background:#fff;border:1px solid var(--gw-line);forced-color-adjust:none}
& .qr svg{display:block;width:100%;height:auto}
& .qr path[stroke]{stroke:#000;stroke-width:1;fill:none}
& .qr path[fill]{fill:#fff;stroke:none}
& .list{margin:0}
& .field{margin-top:1em}
& .key{margin:0;color:var(--gw-soft);font-size:.88em;font-weight:600}
& .val{display:flex;align-items:stretch;gap:.5em;margin:.3em 0 0}
& .raw{flex:1;min-width:0;padding:.62em .8em;border:1px solid var(--gw-line);border-radius:.75em;background:var(--gw-field);font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace;font-size:.95em;line-height:1.5;text-align:start;overflow-wrap:anywhere;word-break:break-all;-webkit-user-select:all;user-select:all}
& .raw.sum{font-size:1.16em;font-weight:700}
& .raw b{font-weight:700}
& .raw i{font-style:normal;color:var(--gw-soft)}
& .copy{display:none;flex:none;min-width:6.4em;padding:.5em .7em;font-size:.92em}
&.js .copy{display:inline-flex}
& .copy.done{border-color:var(--gw-good);color:var(--gw-good)}
& .alert{flex:1;min-width:0;padding:.5em .75em;border-radius:.6em;background:var(--gw-warnbg);color:var(--gw-warn);font-size:.9em;overflow-wrap:anywhere}
& .alert.hard{font-weight:700}
& .fact{display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 1em;padding:.42em 0;font-size:.92em}
& .fact .val,& .fact .key{display:block;margin:0;font-weight:400;font-size:1em;overflow-wrap:anywhere}
& .fact .val{font-weight:500;min-width:0;max-width:100%;-webkit-user-select:all;user-select:all}
& .fact .val.hash{flex-basis:100%;font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.9em;word-break:break-all}
& .pay .facts{margin-top:1em}
& .pay .fact{padding:.6em 0;border-top:1px solid var(--gw-line)}
& .pay .fact:first-child{border:0}
& .help+.help,& .facts+.help{margin-top:.9em;padding-top:.9em;border-top:1px solid var(--gw-line)}
& .help{color:var(--gw-soft);font-size:.9em;overflow-wrap:anywhere}
& .help .raw{display:block;margin-top:.35em;padding:0;border:0;background:none;color:var(--gw-ink);font-size:.92em}
& .cancel{margin-top:1.3em}
& .cancel summary{display:inline-flex;align-items:center;min-height:2.75em;padding:0 .2em;color:var(--gw-soft);font-size:.94em;text-decoration:underline;text-underline-offset:.2em;cursor:pointer;list-style:none}
& .cancel summary::-webkit-details-marker{display:none}
& .cancel form{margin:.2em 0 0;padding:.9em 1em;border:1px solid var(--gw-line);border-radius:.8em}
& .cancel .btn{margin-top:.7em;border-color:var(--gw-bad);color:var(--gw-bad)}
& .after{display:flex;flex-wrap:wrap;gap:.55em;margin-top:1.2em}
& .print,& .receipt{display:none}
&.js.page .print{display:inline-flex}
& .group{margin:1.2em 0 0;padding:0;border:0;min-width:0}
& .group .key{padding:0}
& .coins{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,11.5em),1fr));gap:.55em;margin-top:.45em}
& .pick{justify-content:flex-start;text-align:start;min-height:3.4em;width:100%}
& .pick .logo{width:1.9em;height:1.9em}
& .pick span{display:block;min-width:0;overflow-wrap:anywhere}
& .pick small{display:block;color:var(--gw-soft);font-size:.84em;font-weight:400}
& .offline{position:sticky;top:0;z-index:1;margin:0 0 .6em;padding:.5em .9em;border-radius:.7em;background:var(--gw-warnbg);color:var(--gw-warn);font-weight:600;text-align:center}
& .sr{position:absolute;width:1px;height:1px;margin:-1px;padding:0;border:0;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
& a:focus-visible,& button:focus-visible,& summary:focus-visible{outline:3px solid var(--gw-accent);outline-offset:2px}
& [hidden][hidden]{display:none}
@container (max-width:16em){
& .what,& .pay,& .more{padding-inline:.9em}
& .state .icon{display:none}
& .val{flex-wrap:wrap}
& .raw,& .copy{flex:1 1 100%}
}
@media screen and (prefers-color-scheme:dark){
&{--gw-ink:#eaeefb;--gw-soft:#a9b4cc;--gw-line:#2c364b;--gw-card:#151c2b;--gw-field:#1b2436;--gw-accent:#8db4ff;--gw-on:#06132e;--gw-good:#7fe0a3;--gw-goodbg:#12301f;--gw-warn:#ffcb7d;--gw-warnbg:#35270d;--gw-bad:#ffa59e;--gw-badbg:#3a1917;--gw-info:#a9c6ff;--gw-infobg:#182c52}
& .card{box-shadow:none}
}
@media (forced-colors:active){
& .card,& .btn,& .state,& .alert,& .note{border:1px solid}
}
@media print{
&{color-scheme:light}
& .note{background:none}
& .receipt{display:block;margin-bottom:1em;font-size:1.5em;font-weight:700}
& .cancel,& .opens,& .copy,& .after,& .hint,& .offline{display:none}
& .card{box-shadow:none;break-inside:avoid}
}`;

/** Around the checkout where it is the whole page. */
const PAGE = `
html{background:#eef1f7;color-scheme:light dark}
body{margin:0;min-height:100vh;padding:clamp(.75em,4vw,3em) clamp(.6em,3vw,1.5em) 2.5em}
main{display:block}
.foot{max-width:44em;margin:1.2em auto 0;font:.82em/1.5 system-ui,sans-serif;color:#4c566b;text-align:center}
@media screen and (prefers-color-scheme:dark){html{background:#0c111b}.foot{color:#a9b4cc}}
@media print{
html{background:#fff;color-scheme:light}body{padding:0}}`;

/**
 * What a foreign page says is undone first: everything to its initial value, or to the browser's own style. Shapes
 * keep their attributes, which count as styles, so that theirs is undone one by one.
 */
const RESET = `
&{all:initial}
& :where(:not(svg *)){all:revert}
&::before,&::after,& *::before,& *::after{content:none}
& svg *{display:inline;visibility:visible;margin:0;padding:0;border:0;background:none;color:inherit;font:inherit;letter-spacing:inherit;opacity:1;fill-opacity:1;stroke-opacity:1;stroke-dasharray:none;transform:none;filter:none;mask:none;clip-path:none;transition:none;animation:none}
& .logo *{stroke:none;stroke-width:1}`;

/** For a whole page of ours. */
export const pageStyle = compact(fill(`${PAGE}${SHEET}`, '.gw', '1rem'));

/**
 * For a fragment in a foreign page: every selector is bound to the root and outweighs the page's own, ids and
 * `!important` included, so that nothing leaks in or out.
 */
export const fragmentStyle = compact(
  important(
    fill(
      `${RESET}
${logoRules()}${SHEET}`,
      '.gw:not(#_):not(#_)',
      '16px',
    ),
  ),
);

function fill(sheet: string, root: string, font: string): string {
  return sheet.replaceAll('&', root).replaceAll('$FONT', font);
}

function important(sheet: string): string {
  return sheet.replace(/\{([^{}]*)\}/g, (_, declarations: string) => {
    const marked = declarations
      .split(';')
      .filter((declaration) => declaration.trim() !== '')
      .map((declaration) => `${declaration}!important`);
    return `{${marked.join(';')}}`;
  });
}

function compact(sheet: string): string {
  return sheet.replace(/\n+/g, '\n').trim();
}

/** The rule for a `width` in pixels. */
export const widthStyle = (width: number, mode: 'page' | 'fragment'): string =>
  mode === 'page' ? `.gw.gw{max-width:${width}px}` : `.gw.gw:not(#_):not(#_){max-width:${width}px!important}`;
