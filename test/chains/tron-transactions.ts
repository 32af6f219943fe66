// Transactions as TRON's own API shows them.

export type TronTransaction = { txID: string; [name: string]: unknown };

/** `0x` and 20 bytes as the API writes them. */
export const tronHex = (key: string): string => `41${key.slice(2).toLowerCase()}`;
/** An id for a planted transaction, different for each text. */
export const plantedId = (text: string): string =>
  Buffer.from(text).toString('hex').padEnd(64, '0').slice(0, 64);

/** A transaction of the API with one contract of this kind. */
export const contractTransaction = (
  txID: string,
  type: string,
  value: object,
  ret: unknown = [{ contractRet: 'SUCCESS' }],
): TronTransaction => ({
  ret,
  signature: ['00'],
  txID,
  raw_data: {
    contract: [{ parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type }],
    ref_block_bytes: '0000',
    expiration: 0,
    timestamp: 0,
  },
  raw_data_hex: '',
});
