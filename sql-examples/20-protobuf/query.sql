SET defaults.topic.autocreate=true;
SET defaults.topic.value.protobuf.message='Delivered';
SET defaults.topic.value.protobuf.package='com.example.parcels';

INSERT INTO parcels_delivered
SELECT STREAM
  id,
  receiver.city AS city,
  COALESCE(cents, 0) AS cents,
  at
FROM parcels
WHERE status = 'DELIVERED';
