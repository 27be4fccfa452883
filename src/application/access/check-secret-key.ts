import type { KeyHasher } from '../ports/key-hasher.ts';
import type { UnitOfWork } from '../ports/unit-of-work.ts';

/** The process was given another secret key than the one its database was filled with. */
export class WrongSecretKey extends Error {
  override readonly name = 'WrongSecretKey';

  constructor() {
    super('The database was filled under another secret key');
  }
}

const NAME = 'secret-key';
/** No API key has this form. */
const PROBE = 'which secret key is this';

/**
 * Sees to it that all processes of an installation hash and seal under one secret key: with another one nobody
 * would be let in, and no webhook signed. The first process to come leaves a digest that only its key makes.
 */
export class CheckSecretKey {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly keyHasher: KeyHasher };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly keyHasher: KeyHasher }) {
    this.#ports = ports;
  }

  /** Rejects with `WrongSecretKey`. */
  async execute(): Promise<void> {
    const { unitOfWork, keyHasher } = this.#ports;
    const own = keyHasher.digest(PROBE);
    const kept = await unitOfWork.run((stores) => stores.installation.getOrCreate(NAME, own));
    if (kept !== own) throw new WrongSecretKey();
  }
}
