// Portuguese.
import type { Texts } from './texts.ts';

export const pt: Texts = {
  pay_to: 'Pagamento a {merchant}',
  refill_title: 'Recarga do limite pré-pago',
  direct:
    'Você paga diretamente a {merchant}, da sua carteira para a dele. Ninguém retém o dinheiro no caminho.',

  waiting: 'Aguardando o seu pagamento',
  waiting_text:
    'Envie o valor abaixo antes que o tempo acabe. Esta página é atualizada automaticamente quando o pagamento chega.',
  closing: 'O tempo acabou',
  closing_text: 'Não envie nada agora. Ainda verificamos se um pagamento feito a tempo está a caminho.',
  seen: 'Pagamento detectado',
  seen_text:
    'A sua transação chegou e está sendo confirmada. Não precisa fazer nada e pode fechar esta página.',
  orphaned: 'A sua transação desapareceu',
  orphaned_text:
    'A rede descartou ou substituiu a transação. Veja a carteira: se o dinheiro não saiu, pague de novo.',
  underpaid: 'Falta uma parte do pagamento',
  underpaid_text:
    'Chegaram {received}; faltam {due}. Envie o restante para o mesmo endereço antes que o tempo acabe.',
  processing: 'Pagamento recebido, em processamento',
  processing_text:
    'O seu dinheiro está seguro. Não pague de novo: o pagamento será confirmado automaticamente e esta página vai mostrá-lo.',
  confirmed: 'Pago',
  confirmed_text: '{merchant} recebeu o seu pagamento. Pode guardar esta página como recibo.',
  overpaid: 'Pago a mais',
  overpaid_text:
    '{merchant} recebeu o seu pagamento. Você enviou {extra} a mais: peça a devolução a {merchant}.',
  expired: 'O tempo terminou',
  expired_text:
    'Nenhum pagamento chegou a tempo. Não envie mais nada para este endereço. Se ainda quiser pagar, volte a {merchant} e inicie um novo pagamento.',
  cancelled: 'Pagamento cancelado',
  cancelled_text:
    'Não envie nada para este endereço. Se ainda quiser comprar, volte a {merchant} e inicie um novo pagamento.',
  failed: 'O pagamento falhou',
  failed_text:
    'Não foi possível concluir este pagamento. Não envie mais nada para este endereço. Se ainda quiser pagar, volte a {merchant} e inicie um novo pagamento.',
  late: 'O seu pagamento chegou tarde',
  late_text:
    '{received} chegaram depois do fim deste pagamento e por isso não foram registrados. Não se perderam: peça a {merchant} que aceite ou devolva.',
  incomplete: 'Não foi pago por inteiro a tempo',
  incomplete_text:
    'Só {received} de {amount} chegaram a tempo, por isso o pagamento não foi concluído. O dinheiro não se perdeu: pergunte a {merchant} como completá-lo ou peça a devolução.',
  already_sent: 'Se já enviou dinheiro, ele não se perdeu: vai diretamente para {merchant}. Fale com eles.',

  help: 'Dúvidas? Fale com {merchant} e informe este número de pagamento:',
  amount: 'Valor',
  rest: 'Falta pagar',
  received: 'Recebido',
  address: 'Endereço',
  memo: 'Memo (comentário)',
  network: 'Rede',
  order: 'Pedido',
  rate: 'Taxa de câmbio',
  fee: 'Taxa de serviço, incluída',
  transaction: 'Transação',
  paid_at: 'Pago em',
  confirmations: '{n} de {m} confirmações',
  time_left: 'Tempo restante',
  pay_before: 'Pague antes das {time}',
  minute_left: 'Falta menos de um minuto',

  warn_memo: 'Inclua este memo no pagamento. Sem ele ninguém sabe que o dinheiro é seu.',
  warn_exact: 'Envie exatamente este valor: ele identifica o seu pagamento. As taxas da rede são à parte.',
  warn_network: 'Envie apenas {currency} pela rede {network}. Qualquer outra coisa pode se perder.',
  warn_direct:
    'Pague {currency} da sua própria carteira: pagamentos de corretoras e de carteiras de contrato inteligente podem não ser reconhecidos.',
  compare: 'Antes de confirmar, compare as pontas em negrito com o endereço que a sua carteira mostra.',
  testnet: 'Rede de testes: as moedas aqui não têm valor.',
  demo_rate: 'Câmbio de demonstração, não é preço de mercado.',

  copy: 'Copiar',
  copied: 'Copiado',
  selected: 'Selecionado: copie com o seu aparelho',
  copy_what: 'Copiar: {what}',
  open_wallet: 'Abrir no app da carteira',
  open_in: 'Abrir em {wallet}',
  open_paste: 'Abrir {wallet} e colar',
  wallet_hint: 'Nada abriu? Leia o código ou copie os dados para a sua carteira.',
  scan: 'Leia com a sua carteira',
  scan_address:
    'O código contém apenas o endereço. Digite você mesmo o restante: {amount} pela rede {network}.',
  qr_alt: 'Código QR com todos os dados do pagamento',
  qr_rest: 'Código QR para o restante',
  qr_address: 'Código QR do endereço',
  cancel: 'Cancelar pagamento',
  cancel_sure: 'Cancele apenas se não enviou nada. Não pode ser desfeito.',
  cancel_yes: 'Sim, cancelar este pagamento',
  print: 'Imprimir recibo',
  receipt: 'Recibo',
  refreshes: 'Esta página é atualizada automaticamente a cada {n} segundos.',
  offline: 'Sem conexão. Tentando de novo…',
  blind:
    'No momento não conseguimos ver a rede {network}. O que você enviou não se perdeu: será reconhecido assim que voltarmos a ver a rede.',
  simulate_only:
    'Apenas simular: no momento a rede {network} não pode ser vista. Não envie nada: não seria notado a tempo.',
  again: 'Iniciar um novo pagamento',

  choose: 'Como você quer pagar?',
  inactive: 'Esta oferta não está disponível agora.',
  unavailable: 'Indisponível no momento',
  only_simulated: 'Apenas simular',
  no_coins: 'Nenhuma forma de pagamento está disponível no momento. Volte mais tarde.',
  try_another: 'Não é possível pagar com esta moeda agora. Escolha outra.',
  try_later: 'Algo deu errado. Tente de novo em um minuto.',
  not_found: 'Não encontrado',
  not_found_text: 'Não há nada neste endereço. Verifique o link que recebeu.',

  password_title: 'Defina uma nova senha',
  password_label: 'Nova senha',
  password_save: 'Salvar senha',
  password_done: 'Sua senha foi alterada. Você já pode entrar com ela.',
  password_length: 'A senha deve ter de {min} a {max} caracteres.',
  password_invalid: 'Este link expirou ou já foi usado. Solicite um novo.',
  password_scripts: 'Esta página precisa de JavaScript. Ative-o e recarregue a página.',
  recovery_asked: 'Alguém, provavelmente você, solicitou uma nova senha para a conta {email} em {site}.',
  recovery_valid: 'O link funciona uma única vez e é válido por {n} horas.',
  recovery_ignore: 'Se não foi você, ignore este e-mail: sua senha continua a mesma.',
  email_title: 'Confirme seu endereço de e-mail',
  email_text: 'Pressione o botão para confirmar que este endereço de e-mail é seu.',
  email_confirm: 'Confirmar',
  email_done: 'Seu endereço de e-mail está confirmado.',
  email_asked: 'Alguém, provavelmente você, informou {email} como endereço de uma conta em {site}.',
  email_ignore: 'Se não foi você, ignore este e-mail: o endereço não será usado.',
  test_mail_title: 'E-mail de teste',
  test_mail_text: 'Este e-mail foi enviado pelo gateway de pagamento em {site}. O envio de e-mails funciona.',

  claim_open: 'Já paguei',
  claim_hint:
    'Verificamos a rede imediatamente. Com o ID da transação da sua carteira, encontramos o pagamento mesmo sem o memo.',
  claim_label: 'ID da transação (opcional)',
  claim_check: 'Verificar agora',
  claim_partial: 'Em {time} chegaram {amount}. É menos do que o solicitado.',
  claim_late: 'Em {time} chegaram {amount}, depois de este pagamento ter terminado.',
  claim_unmatched: 'Em {time} chegaram {amount}, mas não foi possível associá-los a este pagamento.',
  claim_memo_missing: 'Falta o memo.',
  claim_memo_other: 'Traz outro memo.',
  claim_other_asset: 'Não é a moeda solicitada.',
  claim_other_network: 'Foi enviado por outra rede: {network}.',
  claim_look_alike: 'É outro token com um nome parecido.',
  claim_amount_differs: 'O valor não é o solicitado.',
  claim_unclear: 'Não está claro a que pagamento se destinava.',
  claim_noted: '{merchant} já está informado. Entre em contato e indique o número de pagamento desta página.',
  claim_nothing: 'Até agora nada chegou para este pagamento. Se já o enviou, informe o ID da transação.',
  claim_not_found:
    'Essa transação não foi encontrada para este pagamento. Confira o ID na sua carteira ou tente novamente em alguns minutos.',
  claim_not_an_id: 'Isto não é um ID de transação. Copie-o dos detalhes do pagamento na sua carteira.',
  claim_not_readable: 'Não conseguimos verificar a rede agora. Tente novamente em alguns minutos.',
};
