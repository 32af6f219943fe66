// Rows as CSV, by RFC 4180; text from outside is no formula where a spreadsheet opens it.

/** What a spreadsheet takes for the beginning of a formula; in full width too, where Japanese or Chinese is set. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
/** Amounts may begin with a minus, and are no formulas. */
const NUMBER = /^-?\d+(\.\d+)?$/;
const MUST_QUOTE = /[",\r\n]/;

/** One value: an apostrophe before what would be a formula, quotes where RFC 4180 asks for them; nothing for null. */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  return MUST_QUOTE.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** One line, with its end. */
export const csvLine = (values: readonly unknown[]): string => `${values.map(csvCell).join(',')}\r\n`;
