// What a shop says of itself to buyers, and of one sale: stored as JSON in the rows of merchants, units and invoices.

/** Where a buyer goes after a payment. */
export interface ReturnSettings {
  /** Where a buyer who has paid returns to; null for nowhere. */
  success_url: string | null;
  /** Where one who has not paid does. */
  cancel_url: string | null;
  /** Whether the page leads there after a few seconds. */
  return_automatically: boolean;
}

/** Of a unit. */
export interface UnitShop extends ReturnSettings {
  /** The id of a picture. */
  picture: string | null;
}

/** Of an invoice, as it was when it was made. */
export interface InvoiceShop extends UnitShop {
  /** Null where its unit or its merchant says it. */
  title: string | null;
  description: string | null;
}

/** Of a merchant. */
export interface MerchantProfile {
  display_name: string | null;
  /** The id of a picture. */
  logo: string | null;
  support_email: string | null;
  support_url: string | null;
  site_url: string | null;
  /** Printed on receipts: company, address, tax number. */
  legal_line: string | null;
  /** Where buyers may be led to. */
  return_hosts: string[];
}

export const NO_PROFILE: Readonly<MerchantProfile> = {
  display_name: null,
  logo: null,
  support_email: null,
  support_url: null,
  site_url: null,
  legal_line: null,
  return_hosts: [],
};

export const NO_UNIT_SHOP: Readonly<UnitShop> = {
  success_url: null,
  cancel_url: null,
  return_automatically: false,
  picture: null,
};
