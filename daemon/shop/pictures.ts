// Pictures of shops, units and invoices: uploaded as data, stored by what they are, served from here.
import { createHash } from 'node:crypto';
import { getMerchant } from '../../data/merchants.ts';
import { putPicture, touchPicture, trimPictures } from '../../data/pictures.ts';
import { unitsOf } from '../../data/units.ts';
import { Refusal } from '../../src/errors.ts';
import { PICTURE_ID, type PictureType, readPicture } from '../../src/picture.ts';
import { seconds } from '../clock.ts';
import type { App } from '../context.ts';

/** Of one account; those used least lately make room, but for the logo and those of units. */
const MAX_PICTURES = 200;
const ID_DIGITS = 32;
const extensions: Record<PictureType, string> = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
};

type PictureApp = Pick<App, 'db' | 'clock' | 'config'>;

const refuse = (why: string) =>
  new Refusal('picture_not_allowed', { detail: `This picture is not allowed: ${why}` });

/**
 * The id of the picture that an owner names, null for the platform: one that is stored by this, or that it has already.
 * Refuses with `picture_not_allowed`.
 */
export async function storePicture(app: PictureApp, owner: string | null, url: string): Promise<string> {
  const { db, clock, config } = app;
  const owner_id = owner ?? '';
  const used_at = seconds(clock);
  const [base, id = ''] = url.split('/pictures/');
  if (base === config.public_url && PICTURE_ID.test(id)) {
    if (await touchPicture(db.query, { id, owner_id, used_at })) return id;
    throw refuse('none of this account is stored at that address');
  }
  const picture = readPicture(url);
  if (typeof picture === 'string') throw refuse(picture);
  const hash = createHash('sha256').update(`${owner_id}\n${picture.type}\n${picture.data}`).digest('hex');
  const row = {
    id: `${hash.slice(0, ID_DIGITS)}.${extensions[picture.type]}`,
    owner_id,
    type: picture.type,
    data: picture.data,
    used_at,
  };
  await db.transaction(async (tx) => {
    await putPicture(tx, row);
    const merchant = owner === null ? undefined : await getMerchant(tx, owner);
    const units = owner === null ? [] : await unitsOf(tx, owner);
    const in_use = [merchant?.profile?.logo, ...units.map(({ shop }) => shop?.picture)];
    await trimPictures(tx, { owner_id, most: MAX_PICTURES, in_use: in_use.filter((each) => each != null) });
  });
  return row.id;
}
