// How many statements each operation may cost: none of them asks once per row, and the hot ones ask little.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Endpoint } from '../../src/api/describe/endpoint.ts';
import { databases } from '../helpers/database.ts';
import { type Recording, recordStatements } from '../helpers/statements.ts';
import { type Cast, described, exampleCall, openWorld, rightful, type World } from './world.ts';

const INVOICES = 24;

/**
 * Statements → the operations that may run so many, sign-in included and the opening and closing of transactions not.
 * Raise one only where a caller gets something for it.
 */
const budgets: Record<number, string> = {
  0: 'listGateways getPublicConfig embedScript currencyLogo logoImage faviconImage getWalletManifest detectIdentitySource getResetPage getCatalog searchCatalog getAgentManifest getLlmsTxt getLlmsFullTxt getRobotsTxt getOpenApi getDocs getRedoc getLiveness getConfirmationPage getLanding',
  1: 'getWebhookSecret getPublicInvoice getTransactionRequest getWebExit getTgExit payShort payReceipt payPage payDiv payQrSvg payQrPng loginAccessToken testToken recoverPassword getMe getUser getSitemap getHealth healthCheck testEmail sendEmailConfirmation',
  // The first viewer for a while asks where the events stand.
  2: 'listLedger listClaims listAdminClaims getReadiness payEvents closeContradiction listInvoices exportAccount getInvoice deleteUnit getMerchantAccount getRefillWallets getEmbedPreview resetPassword recoverPasswordHtml updateMyPassword getAdminRefillWallets confirmEmail',
  3: 'listAdminUnits listDaemons lookUpTransaction listContradictions getUnit getInvoicePayment composePayment updateMerchantAccount rotateApiKey getMerchantWallets setMerchantWallet getBalances listIncome signup updateMe listUsers',
  // Of the events, one gives those that are new their positions.
  4: 'listAdminEvents drainDaemon listEvents setAdminRefillWallet unitShort unitPage unitDiv listUnits updateUnit loginGoogle createUser updateUser listAdminPayments',
  5: 'createInvoice getPaymentPage',
  6: 'createUnit createRefill loginTelegram listAdminMerchants deleteMe resolvePayment',
  7: 'checkoutUnit deleteUser coinsOnPage',
  // Each status is counted by its index, up to a bound.
  // The chain of a check cannot be reached here: whether another daemon has read it lately is asked, and invoice and limit again.
  8: 'getFigures checkInvoice',
  9: 'cancelInvoice cancelOnPage buyOnPage remarkOwnPayment',
  12: 'getAdminPayment listInbox',
  13: 'setHouse creditMerchant resendEvent getAdminMerchant',
  // The detail of the payment is answered, too.
  16: 'remarkPayment',
  17: 'getAdminDashboard',
  // Under the lock of the invoice, with a new amount and its watch; for both coins.
  // A claim: the chains cannot be asked here, so the invoice is evaluated by what is stored, and the claim put on record.
  19: 'switchInvoice switchOnPage claimPayment',
  20: 'claimOnPage',
  // Each way that a text can be meant is searched, and then the story read.
  24: 'explain',
  34: 'listObservers',
  // Its webhook is on its way at once, and counts.
  28: 'simulateInvoice',
};

function budgetOf(id: string, taken: number): number {
  const found = Object.entries(budgets).find(([, ids]) => ids.split(' ').includes(id));
  if (!found)
    throw new Error(`${id} has no budget: add it to \`budgets\` above; it takes ${taken} statements`);
  return Number(found[0]);
}

describe.each(databases)('statements on %s', (database) => {
  let world: World;
  let statements: Recording;
  let busy: Cast;
  let newcomer: Cast;
  beforeAll(async () => {
    world = await openWorld({ database, single: true });
    [busy, newcomer] = [await world.cast(), await world.cast()];
    await trade(busy);
    statements = recordStatements();
  });
  afterAll(async () => {
    statements.stop();
    await world.stop();
  });

  /** Sales of every outcome, a refill, and more units. */
  async function trade({ owner, values }: Cast): Promise<void> {
    const { service } = world;
    for (const title of ['Tea', 'Cake'])
      await service.fetch('POST', '/api/v1/merchant/units', {
        token: owner.token,
        body: { title, amount_usd: 3, currencies: ['TON'] },
      });
    for (let each = 0; each < INVOICES; each++) {
      const body = { chain: each % 2 ? 'ton' : 'bitcoin', amount: '5.00', external_ref: `order-${each}` };
      const { json } = await service.fetch('POST', '/v1/invoices', { key: owner.key, body });
      if (each % 3 === 0) await service.fetch('POST', `/v1/invoices/${json.id}/simulate`, { key: owner.key });
      if (each % 3 === 1) await service.fetch('POST', `/v1/invoices/${json.id}/cancel`);
    }
    await service.fetch('POST', `/v1/invoices/${values.invoice_id}/simulate`, { key: owner.key });
  }

  async function cost(endpoint: Endpoint, cast: Cast): Promise<{ count: number; statements: string }> {
    const { method, path, ...call } = exampleCall(widest(endpoint), cast.values);
    const taken = await statements.during(() =>
      world.service.fetch(method, path, { ...call, ...rightful(endpoint.auth, cast) }),
    );
    return { count: taken.length, statements: taken.map(({ sql }) => sql).join('\n') };
  }

  test.each(described.map((endpoint) => [endpoint.id, endpoint] as const))(
    'of %s stay within its budget',
    async (id, endpoint) => {
      // Only so that all that is asked once for a process has been asked.
      await cost(endpoint, endpoint.method === 'GET' ? newcomer : await world.cast());
      const { count, statements } = await cost(endpoint, await world.cast());
      expect(count, statements).toBeLessThanOrEqual(budgetOf(id, count));
    },
  );

  const reading = described.filter(({ method }) => method === 'GET');
  test.each(reading.map((endpoint) => [endpoint.id, endpoint] as const))(
    'of %s are as many for a busy merchant as for a new one',
    async (_, endpoint) => {
      await cost(endpoint, busy);
      const many = await cost(endpoint, busy);
      const few = await cost(endpoint, newcomer);
      expect(many.count, many.statements).toBeLessThanOrEqual(few.count);
    },
  );
});

/** The example with as large a page as there is. */
const widest = (endpoint: Endpoint): Endpoint =>
  endpoint.query?.limit
    ? { ...endpoint, example: { ...endpoint.example, query: { limit: '50' } } }
    : endpoint;
