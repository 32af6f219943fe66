// What a merchant lets buyers see of its shop: how it is changed, and how its owner reads it.
import type { MerchantRow } from '../../data/schema/tables.ts';
import { pictureAddress } from '../../src/picture.ts';
import { type MerchantProfile, NO_PROFILE } from '../../src/shop.ts';
import type { App } from '../context.ts';
import { checkHosts, checkLink } from './links.ts';
import { storePicture } from './pictures.ts';

/** Left out is unchanged, null removes. */
export interface ProfileUpdate {
  display_name?: string | null | undefined;
  logo_url?: string | null | undefined;
  support_email?: string | null | undefined;
  support_url?: string | null | undefined;
  site_url?: string | null | undefined;
  legal_line?: string | null | undefined;
  return_hosts?: string[] | null | undefined;
}

/** The profile afterwards; undefined where nothing of it changes. Refuses with `url_not_allowed` or `picture_not_allowed`. */
export async function changedProfile(
  app: App,
  { id, profile }: MerchantRow,
  body: ProfileUpdate,
): Promise<MerchantProfile | undefined> {
  const change: Partial<MerchantProfile> = {};
  const { display_name, support_email, support_url, site_url, legal_line, return_hosts, logo_url } = body;
  if (display_name !== undefined) change.display_name = display_name?.trim() || null;
  if (support_email !== undefined) change.support_email = support_email;
  if (support_url !== undefined) change.support_url = support_url && checkLink(app, support_url);
  if (site_url !== undefined) change.site_url = site_url && checkLink(app, site_url);
  if (legal_line !== undefined) change.legal_line = legal_line?.trim() || null;
  if (return_hosts !== undefined) change.return_hosts = checkHosts(return_hosts ?? []);
  if (logo_url !== undefined) change.logo = logo_url && (await storePicture(app, id, logo_url));
  return Object.keys(change).length === 0 ? undefined : { ...NO_PROFILE, ...profile, ...change };
}

/** As its owner reads it. */
export function presentProfile(base: string, { profile }: Pick<MerchantRow, 'profile'>) {
  const { logo, ...rest } = profile ?? NO_PROFILE;
  return { ...rest, logo_url: logo && pictureAddress(base, logo) };
}
