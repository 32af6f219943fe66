// The languages that pages and mails speak: one line each, by their code of ISO 639-1.
export { ar } from './ar.ts';
export { de } from './de.ts';
export { en } from './en.ts';
export { es } from './es.ts';
export { fa } from './fa.ts';
export { fr } from './fr.ts';
export { hi } from './hi.ts';
export { ja } from './ja.ts';
export { pt } from './pt.ts';
export { ru } from './ru.ts';
export { tr } from './tr.ts';
export { zh } from './zh.ts';
