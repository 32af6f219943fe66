// The token contracts of TRON that are known.
import type { TokenContract } from '../evm/contracts.ts';

/** Tether's own; the contract of the test network Nile, whose faucet gives it. */
export const USDT: TokenContract = {
  mainnet: 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  testnet: 'TXYZopYRdj2D9XRtbG411XZZ3kM5VkAeBf',
};

/** As keys. */
export const tokenKeys: ReadonlySet<string> = new Set([
  '0xa614f803b6fd780986a42c78ec9c7f77e6ded13c',
  '0xeca9bc828a3005b9a3b909f2cc5c2a54794de05f',
]);
