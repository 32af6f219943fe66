// Slugs: the readable parts of page addresses, made from names and email addresses.

/** What a slug looks like. */
export const SLUG = /^[a-z0-9](?:-?[a-z0-9])*$/;
export const MIN_SLUG = 3;
export const MAX_SLUG = 64;

/** Leaves room for a suffix that tells equal names apart. */
const MAX_BASE = 48;

/** The slug of a text, at most 48 characters; `fallback` where too little of it can be written with a–z and 0–9. */
export function slugify(text: string, fallback: string): string {
  const slug = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_BASE)
    .replace(/^-+|-+$/g, '');
  if (slug.length >= MIN_SLUG) return slug;
  return slug === '' ? fallback : `${slug}-${fallback}`;
}
