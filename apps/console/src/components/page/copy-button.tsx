import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { useEffect, useState } from 'react';
import { Icon } from './icons.tsx';
import { notify } from '../outcomes/notices.tsx';

/** How long the button says that it did it. */
const TOLD_MS = 1_500;

interface CopyButtonProps {
  value: string;
  /** Names it for those who do not see the icon. */
  label: string;
  /** With its words beside the icon. */
  isWide?: boolean;
}

export function CopyButton({ value, label, isWide = false }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), TOLD_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = (): void => {
    copyText(value).then(
      () => setCopied(true),
      () => notify('This browser does not let the page copy: mark the text and copy it by hand.', 'bad'),
    );
  };
  const icon = <Icon name={isCopied ? 'check' : 'copy'} />;
  if (isWide) {
    return (
      <Button variant="default" leftSection={icon} onClick={copy}>
        {isCopied ? 'Copied' : label}
      </Button>
    );
  }
  return (
    <Tooltip label={isCopied ? 'Copied' : label}>
      <ActionIcon aria-label={isCopied ? 'Copied' : label} onClick={copy} size={24}>
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/** Over plain HTTP, where a Weir on another machine may be looked at, browsers offer only the old way. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return await navigator.clipboard.writeText(text);
  // To mark the text takes the focus.
  const before = document.activeElement;
  const area = Object.assign(document.createElement('textarea'), { value: text });
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (before instanceof HTMLElement) before.focus();
  if (!isDone) throw new Error('the browser did not copy');
}
