// Run by the build: puts the files behind /docs and /redoc beside the compiled code, so that an install needs no package of them.
import { copyFileSync, mkdirSync } from 'node:fs';
import { assets, licences, packageFile, shipped } from './assets.ts';

mkdirSync(shipped, { recursive: true });
for (const [name, { from }] of Object.entries(assets))
  copyFileSync(packageFile(from), new URL(name, shipped));
for (const path of licences)
  copyFileSync(packageFile(path), new URL(`${path.replaceAll('/', '-')}`, shipped));
