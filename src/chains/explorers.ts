// Where people look transactions and addresses up, by blockchain and network. The settings may name others.
import type { Network } from './family.ts';

/** Addresses of pages, with `{id}` where a transaction or an address stands. */
export interface Explorer {
  transaction: string;
  address: string;
}

const plain = (base: string): Explorer => ({
  transaction: `${base}/tx/{id}`,
  address: `${base}/address/{id}`,
});

const tonviewer = (base: string): Explorer => ({
  transaction: `${base}/transaction/{id}`,
  address: `${base}/{id}`,
});

const tronscan = (base: string): Explorer => ({
  transaction: `${base}/#/transaction/{id}`,
  address: `${base}/#/address/{id}`,
});

const ofDevnet: Explorer = {
  transaction: 'https://explorer.solana.com/tx/{id}?cluster=devnet',
  address: 'https://explorer.solana.com/address/{id}?cluster=devnet',
};

export const explorers: Readonly<Record<string, Record<Network, Explorer>>> = {
  ton: { mainnet: tonviewer('https://tonviewer.com'), testnet: tonviewer('https://testnet.tonviewer.com') },
  solana: { mainnet: plain('https://explorer.solana.com'), testnet: ofDevnet },
  bitcoin: { mainnet: plain('https://mempool.space'), testnet: plain('https://mempool.space/testnet4') },
  litecoin: {
    mainnet: plain('https://litecoinspace.org'),
    testnet: plain('https://litecoinspace.org/testnet'),
  },
  ethereum: { mainnet: plain('https://etherscan.io'), testnet: plain('https://sepolia.etherscan.io') },
  base: { mainnet: plain('https://basescan.org'), testnet: plain('https://sepolia.basescan.org') },
  polygon: { mainnet: plain('https://polygonscan.com'), testnet: plain('https://amoy.polygonscan.com') },
  bsc: { mainnet: plain('https://bscscan.com'), testnet: plain('https://testnet.bscscan.com') },
  arbitrum: { mainnet: plain('https://arbiscan.io'), testnet: plain('https://sepolia.arbiscan.io') },
  tron: { mainnet: tronscan('https://tronscan.org'), testnet: tronscan('https://nile.tronscan.org') },
};

/** A gateway is named after its blockchain, and its asset where that has several. */
export const explorerOfGateway = (chain: string, network: Network): Explorer | undefined =>
  explorers[chain.split('-')[0] ?? '']?.[network];
