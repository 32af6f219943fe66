// Turkish.
import type { Texts } from './texts.ts';

export const tr: Texts = {
  pay_to: 'Alıcı: {merchant}',
  refill_title: 'Ön ödemeli limit yüklemesi',
  direct:
    'Doğrudan {merchant} satıcısına, kendi cüzdanınızdan onun cüzdanına ödersiniz. Parayı arada kimse tutmaz.',

  waiting: 'Ödemeniz bekleniyor',
  waiting_text:
    'Süre dolmadan aşağıdaki tutarı gönderin. Ödemeniz ulaştığında bu sayfa otomatik olarak güncellenir.',
  closing: 'Süre doldu',
  closing_text:
    'Şimdi hiçbir şey göndermeyin. Zamanında yapılmış bir ödemenin yolda olup olmadığına bakıyoruz.',
  seen: 'Ödeme algılandı',
  seen_text: 'İşleminiz ulaştı ve onaylanıyor. Bir şey yapmanız gerekmez, bu sayfayı kapatabilirsiniz.',
  orphaned: 'İşleminiz kayboldu',
  orphaned_text: 'Ağ onu düşürdü veya değiştirdi. Cüzdanınıza bakın: para çıkmadıysa yeniden ödeyin.',
  underpaid: 'Henüz tamamı ödenmedi',
  underpaid_text: '{received} ulaştı, {due} eksik. Süre dolmadan kalanı aynı adrese gönderin.',
  processing: 'Ödeme alındı, işleniyor',
  processing_text:
    'Paranız güvende. Yeniden ödemeyin: ödemeniz otomatik olarak onaylanacak ve bu sayfada görünecek.',
  confirmed: 'Ödendi',
  confirmed_text: '{merchant} ödemenizi aldı. Bu sayfayı makbuz olarak saklayabilirsiniz.',
  overpaid: 'Ödendi, ama fazla',
  overpaid_text:
    '{merchant} ödemenizi aldı. {extra} fazla gönderdiniz: iadesini {merchant} satıcısından isteyin.',
  expired: 'Süre sona erdi',
  expired_text:
    'Zamanında ödeme gelmedi. Bu adrese artık bir şey göndermeyin. Yine de ödemek için {merchant} satıcısına dönün ve yeni bir ödeme başlatın.',
  cancelled: 'Ödeme iptal edildi',
  cancelled_text:
    'Bu adrese bir şey göndermeyin. Yine de satın almak için {merchant} satıcısına dönün ve yeni bir ödeme başlatın.',
  failed: 'Ödeme başarısız',
  failed_text:
    'Bu ödeme tamamlanamadı. Bu adrese artık bir şey göndermeyin. Yine de ödemek için {merchant} satıcısına dönün ve yeni bir ödeme başlatın.',
  late: 'Ödemeniz geç geldi',
  late_text:
    '{received} bu ödeme bittikten sonra ulaştı, bu yüzden işlenmedi. Kaybolmadı: kabul veya iade için {merchant} ile görüşün.',
  incomplete: 'Zamanında tamamı ödenmedi',
  incomplete_text:
    '{amount} tutarının yalnızca {received} kadarı zamanında geldi, bu yüzden ödeme tamamlanmadı. Para kaybolmadı: nasıl tamamlanacağını {merchant} satıcısına sorun ya da iade isteyin.',
  already_sent: 'Para gönderdiyseniz kaybolmadı: doğrudan {merchant} satıcısına gider. Ona sorun.',

  help: 'Sorunuz mu var? Bu ödeme numarasıyla {merchant} satıcısına başvurun:',
  amount: 'Tutar',
  rest: 'Kalan tutar',
  received: 'Ulaşan',
  address: 'Adres',
  memo: 'Memo (açıklama)',
  network: 'Ağ',
  order: 'Sipariş',
  rate: 'Kur',
  fee: 'Hizmet bedeli, dahil',
  transaction: 'İşlem',
  paid_at: 'Ödeme zamanı',
  confirmations: '{n} / {m} onay',
  time_left: 'Kalan süre',
  pay_before: 'Son ödeme: {time}',
  minute_left: 'Bir dakikadan az kaldı',

  warn_memo: 'Ödemenize bu memoyu ekleyin. O olmadan paranın sizden geldiği bilinemez.',
  warn_exact: 'Tam olarak bu tutarı gönderin: ödemeniz onunla tanınır. Ağ ücretleri ayrıca ödenir.',
  warn_network: 'Yalnızca {network} ağında {currency} gönderin. Başka her şey kaybolabilir.',
  warn_direct:
    '{currency} ödemesini kendi cüzdanınızdan yapın: borsalardan ve akıllı sözleşme cüzdanlarından gelen ödemeler tanınmayabilir.',
  compare: 'Onaylamadan önce kalın yazılı uçları cüzdanınızın gösterdiği adresle karşılaştırın.',
  testnet: 'Test ağı: buradaki paraların değeri yoktur.',
  demo_rate: 'Gösterim kuru, piyasa fiyatı değildir.',

  copy: 'Kopyala',
  copied: 'Kopyalandı',
  selected: 'Seçildi: cihazınızla kopyalayın',
  copy_what: 'Kopyala: {what}',
  open_wallet: 'Cüzdan uygulamasında aç',
  open_in: '{wallet} ile aç',
  open_paste: '{wallet} aç, sonra yapıştır',
  wallet_hint: 'Bir şey açılmadı mı? Kodu okutun veya bilgileri cüzdanınıza kopyalayın.',
  scan: 'Cüzdanınızla okutun',
  scan_address: 'Kodda yalnızca adres var. Gerisini kendiniz girin: {network} ağında {amount}.',
  qr_alt: 'Tüm ödeme bilgilerini içeren QR kodu',
  qr_rest: 'Kalan tutar için QR kodu',
  qr_address: 'Adresin QR kodu',
  cancel: 'Ödemeyi iptal et',
  cancel_sure: 'Yalnızca bir şey göndermediyseniz iptal edin. Geri alınamaz.',
  cancel_yes: 'Evet, bu ödemeyi iptal et',
  print: 'Makbuzu yazdır',
  receipt: 'Makbuz',
  refreshes: 'Bu sayfa her {n} saniyede bir otomatik olarak yenilenir.',
  offline: 'Bağlantı yok. Yeniden deneniyor…',
  blind:
    'Şu anda {network} ağını göremiyoruz. Gönderdiğiniz tutar kaybolmadı: ağı yeniden gördüğümüz anda tanınacak.',
  simulate_only:
    'Yalnızca simülasyon: {network} ağı şu anda görülemiyor. Hiçbir şey göndermeyin: zamanında fark edilmez.',
  again: 'Yeni ödeme başlat',

  choose: 'Nasıl ödemek istersiniz?',
  inactive: 'Bu teklif şu anda kullanılamıyor.',
  unavailable: 'Şu anda kullanılamıyor',
  only_simulated: 'Yalnızca simülasyon',
  no_coins: 'Şu anda kullanılabilir bir ödeme yöntemi yok. Lütfen daha sonra tekrar gelin.',
  try_another: 'Şu anda bu para birimiyle ödeme yapılamıyor. Lütfen başka birini seçin.',
  try_later: 'Bir sorun oluştu. Lütfen bir dakika sonra yeniden deneyin.',
  not_found: 'Bulunamadı',
  not_found_text: 'Bu adreste bir şey yok. Size verilen bağlantıyı denetleyin.',

  password_title: 'Yeni parola belirleyin',
  password_label: 'Yeni parola',
  password_save: 'Parolayı kaydet',
  password_done: 'Parolanız değiştirildi. Artık yeni parolanızla giriş yapabilirsiniz.',
  password_length: 'Parola {min} ile {max} karakter arasında olmalıdır.',
  password_invalid:
    'Bu bağlantının süresi dolmuş ya da bağlantı daha önce kullanılmış. Yeni bir bağlantı isteyin.',
  password_scripts: 'Bu sayfa için JavaScript gerekir. Etkinleştirip sayfayı yenileyin.',
  recovery_asked: 'Birisi, büyük olasılıkla siz, {site} adresindeki {email} hesabı için yeni parola istedi.',
  recovery_valid: 'Bağlantı yalnızca bir kez çalışır ve {n} saat geçerlidir.',
  recovery_ignore: 'Siz istemediyseniz bu e-postayı yok sayın: parolanız değişmez.',
  email_title: 'E-posta adresinizi doğrulayın',
  email_text: 'Bu e-posta adresinin size ait olduğunu doğrulamak için düğmeye basın.',
  email_confirm: 'Doğrula',
  email_done: 'E-posta adresiniz doğrulandı.',
  email_asked: 'Birisi, büyük olasılıkla siz, {site} adresindeki bir hesap için {email} adresini verdi.',
  email_ignore: 'Siz değilseniz bu e-postayı yok sayın: adres kullanılmaz.',
  test_mail_title: 'Deneme e-postası',
  test_mail_text:
    'Bu e-posta, {site} adresindeki ödeme ağ geçidi tarafından gönderildi. E-posta gönderimi çalışıyor.',
};
