// Deployment wallets of the configuration: taken over at a start, and never against what the operator set.
import { describe, expect, it } from 'vitest';
import { seedDeploymentWallets } from '../../../daemon/process/app.ts';
import { deleteDeploymentWallet, deploymentWallets } from '../../../data/merchants.ts';
import { startApp } from '../../helpers/app.ts';
import { databases } from '../../helpers/database.ts';

const first = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const second = 'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn';

describe.each(databases)('deployment wallets from the configuration on %s', (database) => {
  it('are put once, stay removed when the operator removed them, and follow a changed configuration', async () => {
    const test = await startApp({ database, settings: { 'wallets.bitcoin': first } });
    const { app } = test;
    const addresses = async () => (await deploymentWallets(app.db.query)).map((wallet) => wallet.address);
    expect(await addresses()).toEqual([first]);
    await deleteDeploymentWallet(app.db.query, 'bitcoin');
    await seedDeploymentWallets(app);
    expect(await addresses()).toEqual([]);
    await seedDeploymentWallets({ ...app, config: { ...app.config, wallets: { bitcoin: second } } });
    expect(await addresses()).toEqual([second]);
    await test.stop();
  });
});
