// A Solana program, assembled by hand, that passes its instruction data on to the program in its first account.

/** Virtual addresses equal file offsets throughout. */
const HEADER_BYTES = 64;
const SECTION_HEADER_BYTES = 64;
const MACHINE_BPF = 247;
const TYPE_SHARED = 3;
const RELOCATION_CALL = 10n;
/** What the loader leaves free behind an account's data, for it to grow. */
const ACCOUNT_SPARE_BYTES = 10_240;

const [R0, R1, R2, R3, R4, R5, R6, R10] = [0, 1, 2, 3, 4, 5, 6, 10] as const;

function instruction(opcode: number, dst: number, src: number, offset: number, imm: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt8(opcode, 0);
  bytes.writeUInt8((src << 4) | dst, 1);
  bytes.writeInt16LE(offset, 2);
  bytes.writeInt32LE(imm, 4);
  return bytes;
}

const setImmediate = (dst: number, imm: number) => instruction(0xb7, dst, 0, 0, imm);
const copy = (dst: number, src: number) => instruction(0xbf, dst, src, 0, 0);
const addImmediate = (dst: number, imm: number) => instruction(0x07, dst, 0, 0, imm);
const add = (dst: number, src: number) => instruction(0x0f, dst, src, 0, 0);
const andImmediate = (dst: number, imm: number) => instruction(0x57, dst, 0, 0, imm);
const load = (dst: number, src: number, offset: number) => instruction(0x79, dst, src, offset, 0);
const store = (dst: number, offset: number, src: number) => instruction(0x7b, dst, src, offset, 0);
const callSyscall = () => instruction(0x85, 0, 1, 0, -1);
const exit = () => instruction(0x95, 0, 0, 0, 0);

/** Input: u64 count; account {8 flags, key at 16, …, data length at 88, data at 96, spare, rent epoch}; u64 length, data. */
const code = [
  copy(R6, R1),
  load(R2, R6, 88),
  copy(R3, R6),
  add(R3, R2),
  addImmediate(R3, 96 + ACCOUNT_SPARE_BYTES + 7),
  andImmediate(R3, -8),
  load(R4, R3, 8),
  copy(R5, R3),
  addImmediate(R5, 16),
  // The C form of an instruction: program key, account metas and their count, data and its length.
  addImmediate(R6, 16),
  store(R10, -40, R6),
  copy(R1, R10),
  addImmediate(R1, -40),
  store(R10, -32, R1),
  setImmediate(R0, 0),
  store(R10, -24, R0),
  store(R10, -16, R5),
  store(R10, -8, R4),
  copy(R2, R1),
  setImmediate(R3, 0),
  copy(R4, R1),
  setImmediate(R5, 0),
  callSyscall(),
  exit(),
];
const SYSCALL_POSITION = code.length - 2;

function words(...values: (number | bigint)[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => {
    bytes.writeBigUInt64LE(BigInt(value), index * 8);
  });
  return bytes;
}

interface Section {
  name: string;
  type: number;
  flags: number;
  bytes: Buffer;
  link?: number;
  entry_bytes?: number;
}

/** The ELF file of the program. */
export function relayProgram(): Buffer {
  const text = Buffer.concat(code);
  const textAt = HEADER_BYTES;
  const dynamicAt = textAt + text.length;
  const dynamicBytes = 5 * 16;
  const symbolsAt = dynamicAt + dynamicBytes;
  const symbols = Buffer.concat([Buffer.alloc(24), symbol(1, 0x10)]);
  const names = Buffer.from('\0sol_invoke_signed_c\0\0\0\0', 'latin1');
  const relocationsAt = symbolsAt + symbols.length + names.length;
  const relocations = words(textAt + SYSCALL_POSITION * 8, (1n << 32n) | RELOCATION_CALL);
  // DT_REL, DT_RELSZ, DT_RELENT, DT_SYMTAB, DT_NULL
  const dynamic = words(17, relocationsAt, 18, relocations.length, 19, 16, 6, symbolsAt, 0, 0);
  const sections: Section[] = [
    { name: '.text', type: 1, flags: 6, bytes: text },
    { name: '.dynamic', type: 6, flags: 2, bytes: dynamic, link: 4, entry_bytes: 16 },
    { name: '.dynsym', type: 11, flags: 2, bytes: symbols, link: 4, entry_bytes: 24 },
    { name: '.dynstr', type: 3, flags: 2, bytes: names },
    { name: '.rel.dyn', type: 9, flags: 2, bytes: relocations, link: 3, entry_bytes: 16 },
  ];
  return assemble(sections, textAt);
}

function symbol(name: number, info: number): Buffer {
  const bytes = Buffer.alloc(24);
  bytes.writeUInt32LE(name, 0);
  bytes.writeUInt8(info, 4);
  return bytes;
}

function assemble(sections: readonly Section[], entry: number): Buffer {
  const titles = Buffer.from(
    `\0${[...sections.map((each) => each.name), '.shstrtab'].join('\0')}\0`,
    'latin1',
  );
  const all: Section[] = [...sections, { name: '.shstrtab', type: 3, flags: 0, bytes: titles }];
  const headers = [Buffer.alloc(SECTION_HEADER_BYTES)];
  let at = HEADER_BYTES;
  for (const section of all) {
    const header = Buffer.alloc(SECTION_HEADER_BYTES);
    header.writeUInt32LE(titles.indexOf(`\0${section.name}\0`) + 1, 0);
    header.writeUInt32LE(section.type, 4);
    words(section.flags, section.flags ? at : 0, at, section.bytes.length).copy(header, 8);
    header.writeUInt32LE(section.link ?? 0, 40);
    words(section.type === 3 ? 1 : 8, section.entry_bytes ?? 0).copy(header, 48);
    headers.push(header);
    at += section.bytes.length;
  }
  const padding = Buffer.alloc((8 - (at % 8)) % 8);
  const header = Buffer.alloc(HEADER_BYTES);
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  header.writeUInt16LE(TYPE_SHARED, 16);
  header.writeUInt16LE(MACHINE_BPF, 18);
  header.writeUInt32LE(1, 20);
  words(entry, 0, at + padding.length).copy(header, 24);
  header.writeUInt16LE(HEADER_BYTES, 52);
  header.writeUInt16LE(56, 54);
  header.writeUInt16LE(SECTION_HEADER_BYTES, 58);
  header.writeUInt16LE(headers.length, 60);
  header.writeUInt16LE(headers.length - 1, 62);
  return Buffer.concat([header, ...all.map((each) => each.bytes), padding, ...headers]);
}
