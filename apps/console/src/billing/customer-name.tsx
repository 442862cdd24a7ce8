import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { read } from '../api/client.ts';

interface CustomerNameProps {
  id: string;
  /** As it was when the invoice was finalized. */
  known: Record<string, unknown> | null;
}

/** What a customer is called, with the way to it. */
export function CustomerName({ id, known }: CustomerNameProps) {
  const { data } = useQuery({
    ...read('/api/v1/customers/{id}', { path: { id } }),
    enabled: known === null,
    staleTime: 60_000,
  });
  const { name, external_id } = (known ?? data ?? {}) as { name?: string | null; external_id?: string };
  return (
    <Link to="/customers/$customerId" params={{ customerId: id }}>
      {name ?? external_id ?? '…'}
    </Link>
  );
}
