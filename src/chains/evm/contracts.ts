// The token contracts that are known, by network: those that are read, and others that no one's wallet can be.
import type { Network } from '../family.ts';

/** What an asset is on each network; null where its issuer has none there. */
export type TokenContract = Readonly<Record<Network, string | null>>;

/** Each spelled with its checksum. Never found by symbol or name: anyone can give a token any, and issuers rename theirs. */
export const tokens = {
  ethereum: {
    USDT: { mainnet: '0xdAC17F958D2ee523a2206206994597C13D831ec7', testnet: null },
    USDC: {
      mainnet: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48',
      testnet: '0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238',
    },
  },
  base: {
    USDC: {
      mainnet: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      testnet: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    },
  },
  polygon: {
    USDT: { mainnet: '0xc2132D05D31c914a87C6611C10748AEb04B58e8F', testnet: null },
    USDC: {
      mainnet: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359',
      testnet: '0x41E94Eb019C0762f9Bfcf9Fb1E58725BfB0e7582',
    },
  },
  bsc: {
    USDT: {
      mainnet: '0x55d398326f99059fF775485246999027B3197955',
      testnet: '0x337610d27c682E347C9cD60BD4b3b107C9d34dDd',
    },
    USDC: {
      mainnet: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
      testnet: '0x64544969ed7EBf5f083679233325356EbE738930',
    },
  },
  arbitrum: {
    USDT: { mainnet: '0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9', testnet: null },
    USDC: {
      mainnet: '0xaf88d065e77c8cC2239327C5EDb3A432268e5831',
      testnet: '0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d',
    },
  },
} satisfies Record<string, Record<string, TokenContract>>;

/** A token that is easily taken for one that a gateway takes. */
export interface LookAlike {
  contract: string;
  /** How people call it. */
  name: string;
  /** The gateway under which it is listed; it has the same decimals. */
  chain: string;
}

/** Bridged forms on main networks, which no gateway takes: what arrives in them is listed, with that reason. */
export const lookAlikes = {
  base: [
    { contract: '0xfde4C96c8593536E31F229EA8f37b2ADa2699bb2', name: 'bridged USDT', chain: 'base-usdc' },
    { contract: '0xd9aAEc86B65D86f6A7B5B1b0c42FFA531710b6CA', name: 'USDbC', chain: 'base-usdc' },
  ],
  polygon: [
    { contract: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174', name: 'USDC.e', chain: 'polygon-usdc' },
  ],
  arbitrum: [
    { contract: '0xFF970A61A04b1cA14834A43f5dE4533eBDDB5CC8', name: 'USDC.e', chain: 'arbitrum-usdc' },
  ],
} satisfies Record<string, readonly LookAlike[]>;

/** All of them, as keys. One address may be pasted for any network of the family. */
export const contractKeys: ReadonlySet<string> = new Set(
  [
    ...Object.values(lookAlikes).flatMap((of) => of.map(({ contract }) => contract)),
    ...Object.values(tokens).flatMap((of) =>
      Object.values<TokenContract>(of).flatMap(({ mainnet, testnet }) => [mainnet ?? [], testnet ?? []]),
    ),
  ]
    .flat()
    .map((address) => address.toLowerCase()),
);
