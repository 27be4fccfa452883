import { ContainerModule } from 'inversify';
import { AddressRates } from '../../../application/access/address-rates.ts';
import { AuthenticateProject } from '../../../application/access/authenticate-project.ts';
import { CheckSecretKey } from '../../../application/access/check-secret-key.ts';
import { KeyUses } from '../../../application/access/key-uses.ts';
import { CachedProjectKeys, StoredProjectKeys } from '../../../application/access/project-keys.ts';
import { ports } from '../../tokens.ts';
import { wire } from '../../wire.ts';

const { clock, keyHasher, keyUseInterval, logger, unitOfWork } = ports;

/** Who may call. */
export const access = new ContainerModule(({ bind }) => {
  wire(bind, StoredProjectKeys, { unitOfWork, keyHasher, clock });
  wire(bind, CachedProjectKeys, { source: StoredProjectKeys, keyHasher, clock });
  wire(bind, KeyUses, { unitOfWork, keyHasher, keyUseInterval, clock, logger });
  wire(bind, AuthenticateProject, { projectKeys: CachedProjectKeys, keyUses: KeyUses });
  wire(bind, AddressRates, { clock });
  wire(bind, CheckSecretKey, { unitOfWork, keyHasher });
});
