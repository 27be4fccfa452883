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
const DIGESTED = 'which secret key is this';

/**
 * Makes sure that all processes of an installation use one secret key: with another one every API key would be rejected,
 * and no stored secret could be read. The first process stores a digest that only its key makes.
 */
export class CheckSecretKey {
  readonly #ports: { readonly unitOfWork: UnitOfWork; readonly keyHasher: Pick<KeyHasher, 'digest'> };

  constructor(ports: { readonly unitOfWork: UnitOfWork; readonly keyHasher: Pick<KeyHasher, 'digest'> }) {
    this.#ports = ports;
  }

  /** Rejects with `WrongSecretKey`. */
  async execute(): Promise<void> {
    const { unitOfWork, keyHasher } = this.#ports;
    const own = keyHasher.digest(DIGESTED);
    const stored = await unitOfWork.run((stores) => stores.installation.getOrCreate(NAME, own));
    if (stored !== own) throw new WrongSecretKey();
  }
}
