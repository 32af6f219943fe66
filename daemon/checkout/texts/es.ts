// Spanish.
import type { Texts } from './texts.ts';

export const es: Texts = {
  pay_to: 'Pago a {merchant}',
  refill_title: 'Recarga del límite prepagado',
  direct: 'Pagas directamente a {merchant}, de tu monedero al suyo. Nadie retiene el dinero por el camino.',

  waiting: 'Esperando tu pago',
  waiting_text:
    'Envía el importe indicado antes de que acabe el tiempo. Esta página se actualiza automáticamente cuando llega tu pago.',
  closing: 'Se acabó el tiempo',
  closing_text: 'No envíes nada ahora. Aún comprobamos si un pago hecho a tiempo está en camino.',
  seen: 'Pago detectado',
  seen_text:
    'Tu transacción ha llegado y se está confirmando. No tienes que hacer nada y puedes cerrar esta página.',
  orphaned: 'Tu transacción ha desaparecido',
  orphaned_text: 'La red la descartó o la sustituyó. Mira tu monedero: si el dinero no salió, paga de nuevo.',
  underpaid: 'Falta una parte del pago',
  underpaid_text:
    'Han llegado {received}; faltan {due}. Envía el resto a la misma dirección antes de que acabe el tiempo.',
  processing: 'Pago recibido, en proceso',
  processing_text:
    'Tu dinero está a salvo. No pagues otra vez: el pago se confirmará automáticamente y esta página lo mostrará.',
  confirmed: 'Pagado',
  confirmed_text: '{merchant} ha recibido tu pago. Puedes guardar esta página como recibo.',
  overpaid: 'Pagado de más',
  overpaid_text:
    '{merchant} ha recibido tu pago. Enviaste {extra} de más: pide a {merchant} que te lo devuelva.',
  expired: 'El tiempo ha terminado',
  expired_text:
    'No llegó ningún pago a tiempo. No envíes nada más a esta dirección. Si aún quieres pagar, vuelve a {merchant} e inicia un pago nuevo.',
  cancelled: 'Pago cancelado',
  cancelled_text:
    'No envíes nada a esta dirección. Si aún quieres comprar, vuelve a {merchant} e inicia un pago nuevo.',
  failed: 'El pago ha fallado',
  failed_text:
    'Este pago no pudo completarse. No envíes nada más a esta dirección. Si aún quieres pagar, vuelve a {merchant} e inicia un pago nuevo.',
  late: 'Tu pago llegó tarde',
  late_text:
    '{received} llegaron cuando este pago ya había terminado, por lo que no se registraron. No se han perdido: pide a {merchant} que los acepte o los devuelva.',
  incomplete: 'No se pagó todo a tiempo',
  incomplete_text:
    'Solo llegaron a tiempo {received} de {amount}, así que el pago no se completó. El dinero no se ha perdido: pregunta a {merchant} cómo completarlo o pide que te lo devuelva.',
  already_sent:
    'Si ya has enviado dinero, no se ha perdido: va directamente a {merchant}. Pregúntale por él.',

  help: '¿Dudas? Contacta con {merchant} e indica este número de pago:',
  amount: 'Importe',
  rest: 'Falta por pagar',
  received: 'Recibido',
  address: 'Dirección',
  memo: 'Memo (comentario)',
  network: 'Red',
  order: 'Pedido',
  rate: 'Tipo de cambio',
  fee: 'Comisión de servicio, incluida',
  transaction: 'Transacción',
  paid_at: 'Pagado el',
  confirmations: '{n} de {m} confirmaciones',
  time_left: 'Tiempo restante',
  pay_before: 'Paga antes de las {time}',
  minute_left: 'Queda menos de un minuto',

  warn_memo: 'Añade este memo a tu pago. Sin él nadie puede saber que el dinero es tuyo.',
  warn_exact: 'Envía exactamente este importe: identifica tu pago. Las comisiones de red se pagan aparte.',
  warn_network: 'Envía solo {currency} por la red {network}. Cualquier otra cosa puede perderse.',
  warn_direct:
    'Paga {currency} desde tu propio monedero: los pagos de exchanges y de monederos de contrato inteligente pueden no reconocerse.',
  compare: 'Antes de confirmar, compara los extremos en negrita con la dirección que muestra tu monedero.',
  testnet: 'Red de pruebas: estas monedas no tienen valor.',
  demo_rate: 'Tipo de cambio de demostración, no de mercado.',

  copy: 'Copiar',
  copied: 'Copiado',
  selected: 'Seleccionado: cópialo con tu dispositivo',
  copy_what: 'Copiar: {what}',
  open_wallet: 'Abrir en la app del monedero',
  open_in: 'Abrir en {wallet}',
  open_paste: 'Abrir {wallet} y pegar',
  wallet_hint: '¿No se abre nada? Escanea el código o copia los datos en tu monedero.',
  scan: 'Escanéalo con tu monedero',
  scan_address: 'El código contiene solo la dirección. Introduce tú lo demás: {amount} por la red {network}.',
  qr_alt: 'Código QR con todos los datos del pago',
  qr_rest: 'Código QR para el resto',
  qr_address: 'Código QR de la dirección',
  cancel: 'Cancelar el pago',
  cancel_sure: 'Cancela solo si no has enviado nada. No se puede deshacer.',
  cancel_yes: 'Sí, cancelar este pago',
  print: 'Imprimir recibo',
  receipt: 'Recibo',
  refreshes: 'Esta página se actualiza automáticamente cada {n} segundos.',
  offline: 'Sin conexión. Reintentando…',
  blind:
    'Ahora mismo no podemos ver la red {network}. Lo que has enviado no se ha perdido: se reconocerá en cuanto volvamos a ver la red.',
  simulate_only:
    'Solo simular: ahora mismo no se puede ver la red {network}. No envíes nada: no se detectaría a tiempo.',
  again: 'Iniciar un pago nuevo',

  choose: '¿Cómo quieres pagar?',
  inactive: 'Esta oferta no está disponible ahora.',
  unavailable: 'No disponible en este momento',
  only_simulated: 'Solo simular',
  no_coins: 'Por el momento no hay ningún método de pago disponible. Vuelve más tarde.',
  try_another: 'Ahora no puedes pagar con esta moneda. Elige otra.',
  try_later: 'Algo ha salido mal. Inténtalo de nuevo en un minuto.',
  not_found: 'No encontrado',
  not_found_text: 'No hay nada en esta dirección. Comprueba el enlace que te dieron.',

  password_title: 'Establece una nueva contraseña',
  password_label: 'Nueva contraseña',
  password_save: 'Guardar contraseña',
  password_done: 'Tu contraseña se ha cambiado. Ya puedes iniciar sesión con ella.',
  password_length: 'La contraseña debe tener entre {min} y {max} caracteres.',
  password_invalid: 'Este enlace ha caducado o ya se ha usado. Solicita uno nuevo.',
  password_scripts: 'Esta página necesita JavaScript. Actívalo y vuelve a cargar la página.',
  recovery_asked:
    'Alguien, probablemente tú, ha solicitado una nueva contraseña para la cuenta {email} en {site}.',
  recovery_valid: 'El enlace funciona una sola vez y es válido durante {n} horas.',
  recovery_ignore: 'Si no has sido tú, ignora este correo: tu contraseña no cambiará.',
  email_title: 'Confirma tu dirección de correo',
  email_text: 'Pulsa el botón para confirmar que esta dirección de correo es tuya.',
  email_confirm: 'Confirmar',
  email_done: 'Tu dirección de correo está confirmada.',
  email_asked: 'Alguien, probablemente tú, ha indicado {email} como dirección de una cuenta en {site}.',
  email_ignore: 'Si no has sido tú, ignora este correo: la dirección no se usará.',
  test_mail_title: 'Correo de prueba',
  test_mail_text: 'Este correo lo ha enviado la pasarela de pago de {site}. El envío de correo funciona.',

  claim_open: 'Ya he pagado',
  claim_hint:
    'Comprobamos la red de inmediato. Con el ID de transacción de su billetera encontramos el pago aunque falte el memo.',
  claim_label: 'ID de transacción (opcional)',
  claim_check: 'Comprobar ahora',
  claim_partial: 'El {time} llegaron {amount}. Es menos de lo solicitado.',
  claim_late: 'El {time} llegaron {amount}, cuando este pago ya había terminado.',
  claim_unmatched: 'El {time} llegaron {amount}, pero no se pudieron asociar a este pago.',
  claim_memo_missing: 'Falta el memo.',
  claim_memo_other: 'Lleva otro memo.',
  claim_other_asset: 'No es la moneda solicitada.',
  claim_other_network: 'Se envió por otra red: {network}.',
  claim_look_alike: 'Es otro token con un nombre parecido.',
  claim_amount_differs: 'El importe no es el solicitado.',
  claim_unclear: 'No está claro a qué pago correspondía.',
  claim_noted:
    '{merchant} ya está informado. Póngase en contacto e indique el número de pago de esta página.',
  claim_nothing:
    'Hasta ahora no ha llegado nada para este pago. Si ya lo envió, introduzca el ID de transacción.',
  claim_not_found:
    'No se encontró esa transacción para este pago. Compruebe el ID en su billetera o inténtelo de nuevo en unos minutos.',
  claim_not_an_id: 'Esto no es un ID de transacción. Cópielo de los detalles del pago en su billetera.',
  claim_not_readable: 'Ahora no podemos comprobar la red. Inténtelo de nuevo en unos minutos.',
};
